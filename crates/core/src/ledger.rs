//! Double entry. A line moves an amount from one account group to another, so an entry that does not sum
//! to zero cannot be written down at all: not here, and not in the database.

use std::cmp::Ordering;

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

/// Where the units of one payment stand. What is posted adds up to the payment, or to nothing; only what was
/// promised or sent back outlives a payment that left the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub held: Units,
    pub settled: Units,
    pub overpaid: Units,
    pub refundable: Units,
    pub prepaid_credit: Units,
    pub refunds_due: Units,
    pub refunds_sent: Units,
}

/// What was taken out of a payment since it was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenFromPayment {
    /// Promised by refunds that are not sent yet.
    pub refunds_due: Units,
    pub refunds_sent: Units,
    /// Prepaid credit that has paid for something.
    pub credit_used: Units,
    /// What of the refunds counts towards the price no more: taken while the price was not paid, or out of what was
    /// beyond it. What was given back of a price that was paid is a kindness, and the price stays paid.
    pub withdrawn: Units,
    /// What of that was sent.
    pub withdrawn_sent: Units,
}

/// What bears that part of the refunds of a payment that is gone which is owed with the price: what pays for it, because
/// what counts as excess of the others is beyond both.
const OWED_FROM: &[Group] = &[Group::Settled];

/// What bears that part which was promised out of the excess and is not sent: the excess that is there now, so that nobody is
/// offered it twice.
const PROMISED_FROM: &[Group] = &[Group::Overpaid];

/// What bears the rest, which was given back of a price that was paid: what never counted, then what pays the price again,
/// and what is beyond that as late as possible, because it is the payer's. At last what waits for a decision.
const BORNE_FROM: &[Group] = &[
    Group::Refundable,
    Group::PrepaidCredit,
    Group::Settled,
    Group::Overpaid,
    Group::Held,
];

/// What a refund takes first: what was too much, then what never counted, then what nobody has earned yet.
const REFUNDED_FROM: &[Group] = &[
    Group::Overpaid,
    Group::Refundable,
    Group::PrepaidCredit,
    Group::Settled,
];

/// Where credit that was set aside or used is missing. A payment that was credit once may be something else since, held
/// or the payer's again: what paid for a period is not there for that.
const USED_FROM: &[Group] = &[
    Group::PrepaidCredit,
    Group::Refundable,
    Group::Overpaid,
    Group::Settled,
    Group::Held,
];

impl Position {
    fn groups(self) -> [(Group, Units); 7] {
        [
            (Group::Held, self.held),
            (Group::Settled, self.settled),
            (Group::Overpaid, self.overpaid),
            (Group::Refundable, self.refundable),
            (Group::PrepaidCredit, self.prepaid_credit),
            (Group::RefundsDue, self.refunds_due),
            (Group::RefundsSent, self.refunds_sent),
        ]
    }

    fn at(&mut self, group: Group) -> Option<&mut Units> {
        match group {
            // The other side of the books: a payment stands against it, never in it.
            Group::Received => None,
            Group::Held => Some(&mut self.held),
            Group::Settled => Some(&mut self.settled),
            Group::Overpaid => Some(&mut self.overpaid),
            Group::Refundable => Some(&mut self.refundable),
            Group::PrepaidCredit => Some(&mut self.prepaid_credit),
            Group::RefundsDue => Some(&mut self.refunds_due),
            Group::RefundsSent => Some(&mut self.refunds_sent),
        }
    }

    pub fn total(self) -> Units {
        self.groups()
            .into_iter()
            .fold(Units::ZERO, |sum, (_, units)| sum.plus(units))
    }

    /// What a refund could still take.
    pub fn may_be_refunded(mut self) -> Units {
        self.take(REFUNDED_FROM, Units(u128::MAX))
    }

    /// Takes up to `wanted` out of these groups, in their order, and answers with what it found.
    fn take(&mut self, groups: &[Group], wanted: Units) -> Units {
        let mut missing = wanted.0;
        for group in groups {
            if let Some(stands) = self.at(*group) {
                let found = stands.0.min(missing);
                stands.0 -= found;
                missing -= found;
            }
        }
        Units(wanted.0 - missing)
    }

    /// The same without the prepaid credit of it that was set aside or used, which nobody can be given a second time.
    pub fn without_used(mut self, credit_used: Units) -> Position {
        self.take(&[Group::Settled], credit_used);
        self
    }

    /// Where a payment stands that would stand here had nothing been taken out of it. No group goes below zero:
    /// what was refunded of a payment that is gone stays refunded.
    fn less(mut self, taken: TakenFromPayment) -> Position {
        let used = self.take(USED_FROM, taken.credit_used);
        let refunded = taken.refunds_due.plus(taken.refunds_sent);
        let found = self.take(REFUNDED_FROM, refunded);
        // Refunded first and held afterwards, as when a network takes final blocks back.
        self.take(&[Group::Held], Units(refunded.0 - found.0));
        (self.refunds_due, self.refunds_sent) = (taken.refunds_due, taken.refunds_sent);
        self.settled = self.settled.plus(used);
        self
    }
}

/// One of an invoice's payments: what was taken out of it, and where it would stand had nothing been.
pub struct Drawn<'p> {
    pub asset: &'p str,
    pub taken: TakenFromPayment,
    pub position: &'p mut Position,
}

/// Takes out of an invoice's payments what was taken out of them. What was refunded of one that is gone is borne by the
/// others of its asset, as far as they reach: the books never have more than arrived, or than was refunded.
pub fn take_out(payments: &mut [Drawn<'_>]) {
    let missing: Vec<Units> = payments.iter_mut().map(take_own).collect();
    // Hardly ever any: a stranger may have sent thousands of payments, and nobody looks at each for every other.
    let beyond = missing.into_iter().enumerate();
    for (at, missing) in beyond.filter(|(_, missing)| !missing.is_zero()) {
        let taken = payments[at].taken;
        let promised = Units(taken.withdrawn.0.saturating_sub(taken.withdrawn_sent.0));
        let owed = missing.min(taken.withdrawn_sent);
        // Credit that was used stands with what settled, and paid for something else.
        let borne = bear(payments, at, OWED_FROM, owed, |it| {
            it.taken.credit_used.is_zero()
        });
        let missing = Units(missing.0 - borne.0);
        let borne = bear(payments, at, PROMISED_FROM, missing.min(promised), |_| true);
        let missing = Units(missing.0 - borne.0);
        bear(payments, at, BORNE_FROM, missing, |_| true);
    }
}

/// Lets other payments of its asset bear so much of what was refunded of one, and answers with what they bore.
fn bear(
    payments: &mut [Drawn<'_>],
    at: usize,
    groups: &[Group],
    wanted: Units,
    may_bear: fn(&Drawn<'_>) -> bool,
) -> Units {
    let mut missing = wanted;
    for group in groups {
        for other in 0..payments.len() {
            let is_asked = other != at && payments[other].asset == payments[at].asset;
            if is_asked && may_bear(&payments[other]) {
                let borne = payments[other].position.take(&[*group], missing);
                missing.0 -= borne.0;
                hand_over(payments, at, other, borne);
            }
        }
    }
    Units(wanted.0 - missing.0)
}

/// The books have so much of what was refunded of one payment with another; what was sent first.
fn hand_over(payments: &mut [Drawn<'_>], from: usize, to: usize, units: Units) {
    let from = &mut *payments[from].position;
    let sent = units.min(from.refunds_sent);
    let due = Units(units.0 - sent.0);
    from.refunds_sent.0 -= sent.0;
    from.refunds_due.0 -= due.0;
    let to = &mut *payments[to].position;
    to.refunds_sent = to.refunds_sent.plus(sent);
    to.refunds_due = to.refunds_due.plus(due);
}

/// What was refunded of a payment beyond what is there of it.
fn take_own(payment: &mut Drawn<'_>) -> Units {
    let whole = payment.position.total();
    *payment.position = payment.position.less(payment.taken);
    Units(payment.position.total().0 - whole.0)
}

/// From which payments a refund of this amount comes, and how much of each. Groups decide, and within a group
/// the order given. None when that is more than may be refunded.
pub fn refund_from(payments: &[(&str, Position)], amount: Units) -> Option<Vec<(String, Units)>> {
    draw(payments, REFUNDED_FROM, amount)
}

fn draw(
    payments: &[(&str, Position)],
    groups: &[Group],
    amount: Units,
) -> Option<Vec<(String, Units)>> {
    let mut left: Vec<(&str, Position, Units)> = payments
        .iter()
        .map(|(id, position)| (*id, *position, Units::ZERO))
        .collect();
    let mut missing = amount;
    for group in groups {
        for (_, position, drawn) in &mut left {
            let found = position.take(&[*group], missing);
            *drawn = drawn.plus(found);
            missing.0 -= found.0;
        }
    }
    let drawn = left.into_iter().filter(|(.., drawn)| !drawn.is_zero());
    missing
        .is_zero()
        .then(|| drawn.map(|(id, _, drawn)| (id.to_owned(), drawn)).collect())
}

/// One line of a journal entry: `amount` is debited to one group and credited to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub debit: Group,
    pub credit: Group,
    pub amount: Units,
}

/// Why an entry was made. The names are kept in the database: they may be added to, never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A transfer first stands in the books.
    Receipt,
    /// It moves between groups: accepted, rejected, or counted otherwise.
    Reclassification,
    /// It left the chain.
    Reversal,
    /// A refund of it was created.
    RefundDue,
    /// The merchant sent that refund.
    RefundSent,
    /// A refund was cancelled, or its link expired.
    RefundReturned,
    /// It became prepaid credit: a top-up is final, or credit that was set aside was not used after all.
    PrepaidCredit,
    /// Prepaid credit paid for something.
    CreditUsed,
}

impl EntryKind {
    pub const ALL: [EntryKind; 8] = [
        EntryKind::Receipt,
        EntryKind::Reclassification,
        EntryKind::Reversal,
        EntryKind::RefundDue,
        EntryKind::RefundSent,
        EntryKind::RefundReturned,
        EntryKind::PrepaidCredit,
        EntryKind::CreditUsed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::Receipt => "receipt",
            EntryKind::Reclassification => "reclassification",
            EntryKind::Reversal => "reversal",
            EntryKind::RefundDue => "refund_due",
            EntryKind::RefundSent => "refund_sent",
            EntryKind::RefundReturned => "refund_returned",
            EntryKind::PrepaidCredit => "prepaid_credit",
            EntryKind::CreditUsed => "credit_used",
        }
    }

    /// A payment that comes to bear another's refund was not refunded itself: it merely counts otherwise.
    pub fn of_refunds(self, is_its_own: bool) -> EntryKind {
        match self {
            EntryKind::RefundDue | EntryKind::RefundSent | EntryKind::RefundReturned
                if !is_its_own =>
            {
                EntryKind::Reclassification
            }
            kind => kind,
        }
    }

    pub fn parse(text: &str) -> Option<EntryKind> {
        EntryKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
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
            Ordering::Less => leaving.push((group, old.0 - new.0)),
            Ordering::Greater => entering.push((group, new.0 - old.0)),
            Ordering::Equal => {}
        }
    }
    let (old, new) = (before.total().0, after.total().0);
    match new.cmp(&old) {
        Ordering::Greater => leaving.push((Group::Received, new - old)),
        Ordering::Less => entering.push((Group::Received, old - new)),
        Ordering::Equal => {}
    }
    Some((kind(before, after), pair(leaving, entering)))
}

fn kind(before: Position, after: Position) -> EntryKind {
    match after.total().cmp(&before.total()) {
        Ordering::Greater => return EntryKind::Receipt,
        Ordering::Less => return EntryKind::Reversal,
        Ordering::Equal => {}
    }
    let moved = |of: fn(Position) -> Units| of(after).cmp(&of(before));
    let due = moved(|position| position.refunds_due);
    let credit = moved(|position| position.prepaid_credit);
    if moved(|position| position.refunds_sent).is_gt() {
        EntryKind::RefundSent
    } else if due.is_gt() {
        EntryKind::RefundDue
    } else if due.is_lt() {
        EntryKind::RefundReturned
    } else if credit.is_gt() {
        EntryKind::PrepaidCredit
    } else if credit.is_lt() && moved(|position| position.settled).is_gt() {
        EntryKind::CreditUsed
    } else {
        EntryKind::Reclassification
    }
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
mod tests;
