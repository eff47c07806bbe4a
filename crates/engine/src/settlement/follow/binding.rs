//! Wallet bindings follow the invoice: closed, it frees the amounts its wallets were told to send.

use till_store::Write;

use super::follower::Follower;

pub(super) fn writes(settled: &[Follower<'_>]) -> Option<Write> {
    let closed: Vec<_> = settled
        .iter()
        .filter(|done| done.has_closed())
        .map(|done| (&done.context.scope, done.held.id(), done.context.now))
        .collect();
    (!closed.is_empty()).then(|| till_store::bindings::closing(&closed))
}
