//! Whose a transfer is: which lease of its address, or which wallet binding, it belongs to.
//!
//! A block's clock counts whole seconds and is not ours, so a lease or a binding counts from a little before it was
//! made, as long as nobody else held the address, or the same binding, then.
//!
//! Every time here is one account's: business time where the account has a test clock. Whoever asks converts.

/// How far a block's clock may be behind ours, where its network says nothing else.
pub const CLOCK_SLACK_MS: i64 = 120_000;

/// One invoice's time with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub leased_at: i64,
    /// When the address may be another's; none while its invoice is open.
    pub free_at: Option<i64>,
}

/// Which of an address's leases a transfer made at `at` belongs to: the one that held the address then, or held it
/// last. What was sent before anybody could have been shown the address is nobody's. Its block's clock may be so much behind
/// ours.
pub fn by_lease(leases: &[Lease], at: i64, slack_ms: i64) -> Option<usize> {
    let tenures: Vec<Tenure> = leases
        .iter()
        .map(|lease| Tenure {
            made_at: lease.leased_at,
            held_until: lease.free_at,
        })
        .collect();
    (0..tenures.len())
        .filter(|index| begin(&tenures, *index, slack_ms) <= at)
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
    /// When the wallet was told something else for the same invoice: what it sends after that is not meant by this.
    pub replaced_at: Option<i64>,
}

/// By when an amount must have been given up so that another invoice may be given it now. One given up later is still led
/// to its invoice by a block whose clock is behind ours.
pub fn given_up_by(now: i64) -> i64 {
    now.saturating_sub(CLOCK_SLACK_MS)
}

/// How well a binding fits a transfer, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It held the amount then.
    Holds,
    /// Its invoice had stopped waiting, and its time was not over.
    InTime,
    /// Its time was over.
    Over,
}

/// The best fit for a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub fit: Fit,
    /// None where two invoices fit equally well.
    pub index: Option<usize>,
}

/// Which binding a transfer made at `at` belongs to: the one that held the amount then; or else the one of the only
/// invoice that could still be paid so; or else the one that was made last, as with addresses. When two invoices fit equally
/// well it belongs to neither.
///
/// A transfer that we had seen, in a block or waiting for one, before a binding was made is never that binding's:
/// otherwise anybody could watch what others send and bind their wallets after the fact.
pub fn by_binding(bindings: &[Binding<'_>], at: i64, first_seen_at: i64) -> Option<Bound> {
    let tenures: Vec<Tenure> = bindings
        .iter()
        .map(|binding| Tenure {
            made_at: binding.created_at,
            held_until: binding.closed_at,
        })
        .collect();
    let fits = |index: &usize| {
        let binding = bindings[*index];
        let is_replaced = binding.replaced_at.is_some_and(|end| at >= end);
        binding.created_at <= first_seen_at
            && begin(&tenures, *index, CLOCK_SLACK_MS) <= at
            && !is_replaced
    };
    let fit = |index: usize| match bindings[index] {
        binding if binding.closed_at.is_none_or(|closed| at < closed) => Fit::Holds,
        binding if at < binding.expires_at => Fit::InTime,
        _ => Fit::Over,
    };
    let fitting: Vec<usize> = (0..bindings.len()).filter(fits).collect();
    let best = fitting.iter().map(|index| fit(*index)).min()?;
    let mut alike = fitting.into_iter().filter(|index| fit(*index) == best);
    let last = alike
        .clone()
        .max_by_key(|index| (bindings[*index].created_at, *index))?;
    let is_same = |index: usize| bindings[index].invoice == bindings[last].invoice;
    let index = (best == Fit::Over || alike.all(is_same)).then_some(last);
    Some(Bound { fit: best, index })
}

/// One holder's time with what only one may hold at a time.
#[derive(Clone, Copy)]
struct Tenure {
    made_at: i64,
    held_until: Option<i64>,
}

/// From when on a holder counts: the slack before it was made, cut short where an earlier one still held.
fn begin(tenures: &[Tenure], index: usize, slack_ms: i64) -> i64 {
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
        .fold(this.made_at - slack_ms, i64::max)
}

#[cfg(test)]
mod tests;
