//! Double entry. A line moves an amount from one account group to another, so an entry that does not sum
//! to zero cannot be written down at all: not here, and not in the database.

use crate::money::Units;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    Received,
    Held,
    Settled,
    Overpaid,
    Refundable,
    PrepaidCredit,
    RefundsDue,
    RefundsSent,
}

impl Group {
    pub const ALL: [Group; 8] = [
        Group::Received,
        Group::Held,
        Group::Settled,
        Group::Overpaid,
        Group::Refundable,
        Group::PrepaidCredit,
        Group::RefundsDue,
        Group::RefundsSent,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Group::Received => "received",
            Group::Held => "held",
            Group::Settled => "settled",
            Group::Overpaid => "overpaid",
            Group::Refundable => "refundable",
            Group::PrepaidCredit => "prepaid_credit",
            Group::RefundsDue => "refunds_due",
            Group::RefundsSent => "refunds_sent",
        }
    }

    pub fn parse(text: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.as_str() == text)
    }
}

/// Where the units of one payment stand. What is posted adds up to the payment, or to nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub held: Units,
    pub settled: Units,
    pub overpaid: Units,
    pub refundable: Units,
}

impl Position {
    fn groups(self) -> [(Group, Units); 4] {
        [
            (Group::Held, self.held),
            (Group::Settled, self.settled),
            (Group::Overpaid, self.overpaid),
            (Group::Refundable, self.refundable),
        ]
    }

    pub fn total(self) -> Units {
        self.groups()
            .into_iter()
            .fold(Units::ZERO, |sum, (_, units)| sum.plus(units))
    }
}

/// One line of a journal entry: `amount` is debited to one group and credited to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub debit: Group,
    pub credit: Group,
    pub amount: Units,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A transfer first stands in the books.
    Receipt,
    /// It moves between groups: accepted, rejected, or counted otherwise.
    Reclassification,
    /// It left the chain.
    Reversal,
}

impl EntryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::Receipt => "receipt",
            EntryKind::Reclassification => "reclassification",
            EntryKind::Reversal => "reversal",
        }
    }
}

/// The entry that takes a payment from one position to another; none when nothing moved.
pub fn entry(before: Position, after: Position) -> Option<(EntryKind, Vec<Line>)> {
    if before == after {
        return None;
    }
    // What leaves a group is debited to it; received stands on the other side for the rest.
    let mut leaving: Vec<(Group, u128)> = Vec::new();
    let mut entering: Vec<(Group, u128)> = Vec::new();
    for ((group, old), (_, new)) in before.groups().into_iter().zip(after.groups()) {
        match new.0.cmp(&old.0) {
            std::cmp::Ordering::Less => leaving.push((group, old.0 - new.0)),
            std::cmp::Ordering::Greater => entering.push((group, new.0 - old.0)),
            std::cmp::Ordering::Equal => {}
        }
    }
    let sum = |side: &[(Group, u128)]| side.iter().map(|(_, amount)| amount).sum::<u128>();
    let (out, into) = (sum(&leaving), sum(&entering));
    if into > out {
        leaving.push((Group::Received, into - out));
    } else if out > into {
        entering.push((Group::Received, out - into));
    }
    let kind = match (before.total().is_zero(), after.total().is_zero()) {
        (true, _) => EntryKind::Receipt,
        (_, true) => EntryKind::Reversal,
        _ => EntryKind::Reclassification,
    };
    Some((kind, pair(leaving, entering)))
}

fn pair(mut leaving: Vec<(Group, u128)>, mut entering: Vec<(Group, u128)>) -> Vec<Line> {
    let mut lines = Vec::new();
    while let (Some(from), Some(to)) = (leaving.last_mut(), entering.last_mut()) {
        let amount = from.1.min(to.1);
        lines.push(Line {
            debit: from.0,
            credit: to.0,
            amount: Units(amount),
        });
        from.1 -= amount;
        to.1 -= amount;
        if from.1 == 0 {
            leaving.pop();
        }
        if to.1 == 0 {
            entering.pop();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn position(held: u128, settled: u128, overpaid: u128, refundable: u128) -> Position {
        Position {
            held: Units(held),
            settled: Units(settled),
            overpaid: Units(overpaid),
            refundable: Units(refundable),
        }
    }

    #[test]
    fn a_receipt_debits_received_and_credits_where_it_stands() {
        let (kind, lines) = entry(Position::default(), position(0, 25, 3, 0)).unwrap();
        assert_eq!(kind, EntryKind::Receipt);
        assert!(lines.iter().all(|line| line.debit == Group::Received));
        assert_eq!(lines.iter().map(|line| line.amount.0).sum::<u128>(), 28);
    }

    #[test]
    fn accepting_a_hold_moves_it_without_touching_received() {
        let (kind, lines) = entry(position(28, 0, 0, 0), position(0, 25, 3, 0)).unwrap();
        assert_eq!(kind, EntryKind::Reclassification);
        assert!(
            lines
                .iter()
                .all(|line| line.debit == Group::Held && line.credit != Group::Received)
        );
    }

    #[test]
    fn nothing_moved_means_no_entry() {
        assert_eq!(entry(position(1, 2, 3, 4), position(1, 2, 3, 4)), None);
    }

    proptest! {
        #[test]
        fn applying_the_lines_gives_the_new_position(
            before in (0u128..100, 0u128..100, 0u128..100, 0u128..100),
            after in (0u128..100, 0u128..100, 0u128..100, 0u128..100),
        ) {
            let before = position(before.0, before.1, before.2, before.3);
            let after = position(after.0, after.1, after.2, after.3);
            let mut credits = std::collections::HashMap::<Group, i128>::new();
            for (group, units) in before.groups() {
                credits.insert(group, units.0.cast_signed());
            }
            for line in entry(before, after).map(|(_, lines)| lines).unwrap_or_default() {
                prop_assert!(line.amount.0 > 0 && line.debit != line.credit);
                *credits.entry(line.debit).or_default() -= line.amount.0.cast_signed();
                *credits.entry(line.credit).or_default() += line.amount.0.cast_signed();
            }
            for (group, units) in after.groups() {
                prop_assert_eq!(credits[&group], units.0.cast_signed());
            }
        }
    }
}
