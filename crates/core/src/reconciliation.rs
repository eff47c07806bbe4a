//! Reconciliation: three views of the same money, worked out apart from each other, and what they disagree about.

use std::collections::BTreeMap;

use crate::error::{Code, Refusal};
use crate::ledger::Group;
use crate::limits::{RECONCILIATION_PERIOD_DAYS_DEFAULT, RECONCILIATION_PERIOD_DAYS_MAX};
use crate::money::Units;
use crate::time::DAY_MS;

/// From the first moment to just before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub from: i64,
    pub to: i64,
}

impl Period {
    /// What was asked for; without an end it ends now, without a beginning it has the usual length.
    pub fn asked(from: Option<i64>, to: Option<i64>, now: i64) -> Result<Period, Refusal> {
        let invalid =
            |message: &'static str| Refusal::new(Code::ParameterInvalid, message).param("from");
        let to = to.unwrap_or(now);
        let usual = i64::from(RECONCILIATION_PERIOD_DAYS_DEFAULT) * DAY_MS;
        let from = from.unwrap_or(to.saturating_sub(usual));
        if from >= to {
            return Err(invalid("from must be before to"));
        }
        if to - from > i64::from(RECONCILIATION_PERIOD_DAYS_MAX) * DAY_MS {
            return Err(invalid("a period is at most 366 days long"));
        }
        Ok(Period { from, to })
    }

    /// The equally long period before it.
    pub fn previous(self) -> Period {
        Period {
            from: self.from.saturating_sub(self.to - self.from),
            to: self.from,
        }
    }
}

/// What the journal's lines come to, per group, in one asset. What entered `received` is debited there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals(BTreeMap<&'static str, i128>);

impl Totals {
    pub fn add(&mut self, debit: Group, credit: Group, amount: Units) {
        // An asset whose supply does not fit has none that could be received.
        let amount = i128::try_from(amount.0).unwrap_or(i128::MAX);
        for (group, amount) in [(debit, -amount), (credit, amount)] {
            let side = if group == Group::Received { -1 } else { 1 };
            let sum = self.0.entry(group.as_str()).or_default();
            *sum = sum.saturating_add(side * amount);
        }
    }

    pub fn of(&self, group: Group) -> i128 {
        self.0.get(group.as_str()).copied().unwrap_or_default()
    }
}

/// One invoice's money in one asset, as each view has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Views {
    /// What the journal has as received.
    pub ledger: i128,
    /// What arrived for good on the chain.
    pub chain: i128,
    /// What the invoice shows as received.
    pub invoice: i128,
    /// What is on its way, and what left the chain again.
    pub pending: i128,
    pub reversed: i128,
    /// What of it a review has yet to decide about.
    pub held: i128,
    /// What refunds that are open or sent come to.
    pub refunded: i128,
    /// What of that was lost with credited payments of the invoice that left the chain after it was refunded.
    pub exposed: i128,
    /// The invoice is paid, whatever left the chain.
    pub is_paid: bool,
    /// What of it the journal has beyond the price, and whether the invoice shows an excess of this asset.
    pub excess: i128,
    pub is_shown: bool,
    /// What a top-up's invoice shows as its excess, which becomes credit with the rest.
    pub top_up_excess: i128,
    /// The invoice is paid, and not overpaid: what is beyond its price came below a cent at a time.
    pub is_dust: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Explained,
    Flagged,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Explained => "explained",
            Severity::Flagged => "flagged",
        }
    }
}

/// Something that the views disagree about, or that somebody should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: &'static str,
    pub amount: i128,
    pub severity: Severity,
    pub detail: &'static str,
}

/// What the views of one invoice disagree about. What was refunded beyond what is there stays in the journal: that is one
/// difference, not two.
pub fn differences(views: &Views) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |kind, amount: i128, severity, detail| {
        if amount != 0 {
            found.push(Difference {
                kind,
                amount,
                severity,
                detail,
            });
        }
    };
    let beyond = (views.refunded - views.chain).max(0);
    add(
        "refunded_beyond_received",
        beyond,
        Severity::Flagged,
        "More is refunded than is there: a payment left the chain after it was refunded.",
    );
    let (severity, detail) = match views.is_paid {
        true => (
            Severity::Explained,
            "A payment left the chain after this was refunded; others have made up for it.",
        ),
        false => (
            Severity::Flagged,
            "A payment left the chain after this was refunded, and the invoice is not paid.",
        ),
    };
    let exposed = (views.exposed - beyond).max(0);
    add("refunded_and_reversed", exposed, severity, detail);
    let ledger = views.ledger - beyond;
    if ledger == views.invoice {
        add(
            "chain",
            ledger - views.chain,
            Severity::Flagged,
            "The journal and the invoice agree on another amount than arrived on the chain.",
        );
    } else {
        add(
            "ledger_chain",
            ledger - views.chain,
            Severity::Flagged,
            "The journal has received another amount than arrived on the chain.",
        );
        add(
            "invoice_chain",
            views.invoice - views.chain,
            Severity::Flagged,
            "The invoice shows another amount than arrived on the chain.",
        );
    }
    add(
        "pending",
        views.pending,
        Severity::Explained,
        "Seen on the chain and not settled yet.",
    );
    add(
        "reversed",
        views.reversed,
        Severity::Explained,
        "Was on the chain and left it.",
    );
    add(
        "held",
        views.held,
        Severity::Explained,
        "Received, and held until a review decides about it.",
    );
    let (kind, detail) = match views.is_dust {
        true => (
            "dust",
            "Beyond the price in payments below one cent each, which do not make an invoice overpaid.",
        ),
        false => (
            "excess_not_shown",
            "Beyond the price, while the invoice shows its excess in another asset or is under review.",
        ),
    };
    let hidden = if views.is_shown { 0 } else { views.excess };
    add(kind, hidden, Severity::Explained, detail);
    let credit = views.top_up_excess - views.excess - views.refunded;
    add(
        "excess_is_credit",
        credit.max(0),
        Severity::Explained,
        "Shown as too much by a top-up's invoice, and prepaid credit in the journal.",
    );
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_its_usual_and_its_greatest_length() {
        let now = 1_000 * DAY_MS;
        let usual = Period::asked(None, None, now).unwrap();
        assert_eq!((usual.from, usual.to), (now - 30 * DAY_MS, now));
        assert!(Period::asked(Some(now - 366 * DAY_MS), None, now).is_ok());
        for (from, to) in [(now - 366 * DAY_MS - 1, now), (now, now), (now, now - 1)] {
            let refusal = Period::asked(Some(from), Some(to), now).unwrap_err();
            assert_eq!(refusal.code, Code::ParameterInvalid);
        }
        assert_eq!(usual.previous().to, usual.from);
        assert_eq!(usual.previous().from, now - 60 * DAY_MS);
    }

    #[test]
    fn received_is_what_was_debited_to_it() {
        let mut totals = Totals::default();
        totals.add(Group::Received, Group::Settled, Units(25));
        totals.add(Group::Settled, Group::RefundsDue, Units(5));
        let of = Group::ALL.map(|group| totals.of(group));
        assert_eq!(of, [25, 0, 20, 0, 0, 0, 5, 0]);
    }

    #[track_caller]
    fn check(views: Views, expected: &[(&str, i128)]) {
        let found = differences(&views);
        let found: Vec<_> = found.iter().map(|one| (one.kind, one.amount)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn views_that_agree_have_no_differences() {
        let views = Views {
            ledger: 25,
            chain: 25,
            invoice: 25,
            refunded: 25,
            ..Views::default()
        };
        check(views, &[]);
    }

    #[test]
    fn each_difference_is_found_by_itself() {
        let agree = Views {
            ledger: 25,
            chain: 25,
            invoice: 25,
            ..Views::default()
        };
        check(
            Views {
                ledger: 24,
                ..agree
            },
            &[("ledger_chain", -1)],
        );
        check(
            Views {
                invoice: 27,
                ..agree
            },
            &[("invoice_chain", 2)],
        );
        check(
            Views {
                pending: 3,
                ..agree
            },
            &[("pending", 3)],
        );
        check(Views { held: 3, ..agree }, &[("held", 3)]);
        let beyond = Views { excess: 2, ..agree };
        check(beyond, &[("excess_not_shown", 2)]);
        check(
            Views {
                is_dust: true,
                ..beyond
            },
            &[("dust", 2)],
        );
        check(
            Views {
                is_shown: true,
                ..beyond
            },
            &[],
        );
        let top_up = Views {
            is_shown: true,
            top_up_excess: 3,
            ..agree
        };
        check(top_up, &[("excess_is_credit", 3)]);
        // Not final yet, or given back in part.
        check(
            Views {
                excess: 3,
                ..top_up
            },
            &[],
        );
        check(
            Views {
                refunded: 2,
                ..top_up
            },
            &[("excess_is_credit", 1)],
        );
        check(Views { chain: 24, ..agree }, &[("chain", 1)]);
        check(
            Views {
                reversed: 3,
                ..agree
            },
            &[("reversed", 3)],
        );
        let gone = Views {
            ledger: 25,
            refunded: 25,
            exposed: 25,
            reversed: 25,
            ..Views::default()
        };
        check(gone, &[("refunded_beyond_received", 25), ("reversed", 25)]);
        // Another payment has arrived since.
        let made_up_for = Views {
            chain: 15,
            invoice: 15,
            ..gone
        };
        check(
            made_up_for,
            &[
                ("refunded_beyond_received", 10),
                ("refunded_and_reversed", 15),
                ("reversed", 25),
            ],
        );
        // The journal forgot to take back what nobody refunded.
        check(
            Views {
                refunded: 20,
                exposed: 20,
                ..gone
            },
            &[
                ("refunded_beyond_received", 20),
                ("ledger_chain", 5),
                ("reversed", 25),
            ],
        );
    }

    #[test]
    fn what_was_refunded_before_a_reversal_is_flagged_until_the_invoice_is_paid() {
        let mut views = Views {
            ledger: 25,
            chain: 25,
            invoice: 25,
            reversed: 25,
            refunded: 25,
            exposed: 25,
            ..Views::default()
        };
        let severity = |views: &Views| differences(views)[0].severity;
        assert_eq!(severity(&views), Severity::Flagged);
        views.is_paid = true;
        assert_eq!(severity(&views), Severity::Explained);
        check(views, &[("refunded_and_reversed", 25), ("reversed", 25)]);
    }
}
