//! Whose a transfer is: which lease of its address, or which wallet binding, it belongs to.
//!
//! A block's clock counts whole seconds and is not ours, so a lease or a binding counts from a little before it was
//! made, as long as nobody else held the address, or the same binding, then.
//!
//! Every time here is one account's: business time where the account has a test clock. Whoever asks converts.

/// How far a block's clock may be behind ours.
pub const CLOCK_SLACK_MS: i64 = 120_000;

/// One invoice's time with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub leased_at: i64,
    /// When the address may be another's; none while its invoice is open.
    pub free_at: Option<i64>,
}

/// Which of an address's leases a transfer made at `at` belongs to: the one that held the address then, or held it
/// last. What was sent before anybody could have been shown the address is nobody's.
pub fn by_lease(leases: &[Lease], at: i64) -> Option<usize> {
    let tenures: Vec<Tenure> = leases
        .iter()
        .map(|lease| Tenure {
            made_at: lease.leased_at,
            held_until: lease.free_at,
        })
        .collect();
    (0..tenures.len())
        .filter(|index| begin(&tenures, *index) <= at)
        .max_by_key(|index| (tenures[*index].made_at, *index))
}

/// What a wallet was told to send for one invoice. Sender, destination, asset and exact amount are the same for all
/// that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding<'a> {
    /// A wallet may have been told the same amount for one invoice more than once.
    pub invoice: &'a str,
    pub created_at: i64,
    pub expires_at: i64,
    /// When its invoice stopped waiting and the amount became free for another; none while it is open.
    pub closed_at: Option<i64>,
}

/// Which binding a transfer made at `at` belongs to: the one that held the amount then, or else the one of the only
/// invoice that it could still be for. When two invoices fit equally well it belongs to neither.
///
/// A transfer that we had seen, in a block or waiting for one, before a binding was made is never that binding's:
/// otherwise anybody could watch what others send and bind their wallets after the fact.
pub fn by_binding(bindings: &[Binding<'_>], at: i64, first_seen_at: i64) -> Option<usize> {
    let tenures: Vec<Tenure> = bindings
        .iter()
        .map(|binding| Tenure {
            made_at: binding.created_at,
            held_until: binding.closed_at,
        })
        .collect();
    let fitting: Vec<usize> = (0..bindings.len())
        .filter(|index| bindings[*index].created_at <= first_seen_at)
        .filter(|index| begin(&tenures, *index) <= at && at < bindings[*index].expires_at)
        .collect();
    let holding: Vec<usize> = fitting
        .iter()
        .copied()
        .filter(|index| tenures[*index].held_until.is_none_or(|until| at < until))
        .collect();
    let agreed = |found: &[usize]| {
        let (last, others) = found.split_last()?;
        let same = |other: &usize| bindings[*other].invoice == bindings[*last].invoice;
        others.iter().all(same).then_some(*last)
    };
    match holding.is_empty() {
        true => agreed(&fitting),
        false => agreed(&holding),
    }
}

/// One holder's time with what only one may hold at a time.
#[derive(Clone, Copy)]
struct Tenure {
    made_at: i64,
    held_until: Option<i64>,
}

/// From when on a holder counts: the slack before it was made, cut short where an earlier one still held.
fn begin(tenures: &[Tenure], index: usize) -> i64 {
    let this = tenures[index];
    let earlier = tenures
        .iter()
        .enumerate()
        .filter(|(other, tenure)| (tenure.made_at, *other) < (this.made_at, index));
    earlier
        .map(|(_, tenure)| {
            tenure
                .held_until
                .map_or(this.made_at, |until| until.min(this.made_at))
        })
        .fold(this.made_at - CLOCK_SLACK_MS, i64::max)
}

#[cfg(test)]
mod tests;
