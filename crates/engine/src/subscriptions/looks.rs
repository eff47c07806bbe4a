//! Looks that are taken soon, in a unit of work of their own.

use till_core::scope::Scope;
use till_core::timer::TimerKind;
use till_store::customers::CustomerRow;
use till_store::timers::TimerRow;
use till_store::{Queries, Tx};

use crate::base::Context;
use crate::base::fail::Fail;

async fn customer_of(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
) -> Result<CustomerRow, Fail> {
    let row = till_store::customers::find(q, scope, customer).await?;
    row.ok_or_else(|| Fail::broken("a subscription's customer is missing"))
}

/// How often payments of a customer have left the chain or come back.
#[derive(Clone, Copy)]
pub(super) struct Moves {
    pub(super) all: i64,
    /// How many of them there were when all credit was last shared out.
    shared: i64,
}

impl Moves {
    pub(super) async fn of(
        q: &mut impl Queries,
        scope: &Scope,
        customer: &str,
    ) -> Result<Moves, Fail> {
        Ok(Moves {
            all: till_store::journal::moves(q, scope, customer).await?,
            shared: customer_of(q, scope, customer).await?.moves_shared,
        })
    }

    /// Whether nothing has left the chain or come back since all credit was last shared out: then nobody has a better right
    /// to credit than who has it.
    pub(super) fn are_shared(self) -> bool {
        self.all == self.shared
    }
}

/// Records that credit is being shared out. That takes several looks, which may post more than these moves.
pub(super) async fn begin_sharing(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
    moves: Moves,
) -> Result<(), Fail> {
    if moves.are_shared() {
        return Ok(());
    }
    let mut row = customer_of(tx, &context.scope, customer).await?;
    row.moves_pending = Some(moves.all);
    Ok(till_store::customers::set_moves(tx, &row).await?)
}

/// Records that all credit is shared out, if it was being shared and nothing more is due about the customer. Before that
/// it depends on how far the looks have come who has what, so nobody may keep it for that alone.
pub(super) async fn end_sharing(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
) -> Result<(), Fail> {
    let (scope, now) = (&context.scope, context.now);
    let mut row = customer_of(tx, scope, customer).await?;
    if row.moves_pending.is_none() {
        return Ok(());
    }
    // Counted first: what leaves the chain in between is not among these, and what left it before has its timer, which is
    // seen whatever clock has set it.
    let moves = till_store::journal::moves(tx, scope, customer).await?;
    if !till_store::timers::is_at_rest(tx, scope, customer, now).await? {
        return Ok(());
    }
    (row.moves_shared, row.moves_pending) = (moves, None);
    Ok(till_store::customers::set_moves(tx, &row).await?)
}

/// Has the customer's credit shared anew among all that it pays for.
pub(super) async fn share_again(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
) -> Result<(), Fail> {
    let (scope, kind) = (&context.scope, TimerKind::ShareCredit);
    let again = TimerRow::new(scope, kind, customer, context.now);
    Ok(till_store::timers::set(tx, &[again]).await?)
}
