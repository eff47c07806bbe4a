//! Plans: what is charged, how often, and how long a renewal may stay unpaid.

use crate::calendar::Unit;
use crate::error::{Code, Refusal};
use crate::limits::PLAN_INTERVAL_COUNT_MIN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStatus {
    Active,
    /// Takes no new subscriptions; those it has keep renewing.
    Archived,
}

impl PlanStatus {
    pub const ALL: [PlanStatus; 2] = [PlanStatus::Active, PlanStatus::Archived];

    pub fn as_str(self) -> &'static str {
        match self {
            PlanStatus::Active => "active",
            PlanStatus::Archived => "archived",
        }
    }

    pub fn parse(text: &str) -> Option<PlanStatus> {
        PlanStatus::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

/// No period is longer than a year, whatever it is counted in.
pub fn check_interval(unit: Unit, count: u32) -> Result<(), Refusal> {
    let max = unit.count_max();
    if (PLAN_INTERVAL_COUNT_MIN..=max).contains(&count) {
        return Ok(());
    }
    let message = format!(
        "interval_count must be from {PLAN_INTERVAL_COUNT_MIN} to {max} for an interval of {}",
        unit.as_str()
    );
    Err(Refusal::new(Code::ParameterInvalid, message).param("interval_count"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_period_is_empty_or_longer_than_a_year() {
        for (unit, max) in [
            (Unit::Day, 365),
            (Unit::Week, 52),
            (Unit::Month, 12),
            (Unit::Year, 1),
        ] {
            assert!(check_interval(unit, 1).is_ok() && check_interval(unit, max).is_ok());
            for bad in [0, max + 1] {
                let refusal = check_interval(unit, bad).unwrap_err();
                assert_eq!(refusal.param.as_deref(), Some("interval_count"));
            }
        }
    }
}
