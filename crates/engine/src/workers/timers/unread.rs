//! Expiry and the chain: an invoice is not announced as expired while a network that it offers may still have a payment
//! from before the deadline in blocks that nobody has read.

use std::collections::HashMap;

use till_core::time::SECOND_MS;
use till_store::Tx;
use till_store::timers::Due;

use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::settlement::LockedInvoice;
use till_watch::Watching;

/// When it is looked at again.
const AGAIN_MS: i64 = 2 * SECOND_MS;

/// Those of these timers that wait for a network to be read up to them; they are put off.
pub(super) async fn put_off(
    tx: &mut Tx,
    due: &[(&Context<'_>, &Due)],
    held: &HashMap<String, LockedInvoice>,
) -> Result<Vec<Due>, Fail> {
    let Some((engine, watching)) = due.first().and_then(|(context, _)| watched(context.engine))
    else {
        return Ok(Vec::new());
    };
    let now = engine.clock.now_ms();
    let read: HashMap<String, i64> = till_store::networks::read_up_to(tx)
        .await?
        .into_iter()
        .collect();
    let waits = |(context, timer): &&(&Context<'_>, &Due)| {
        // A clock that was moved says nothing about blocks, which carry real time.
        let is_real = context.merchant.row.clock_offset_ms == 0;
        let is_long = now >= timer.due_at.saturating_add(watching.expiry_wait_ms);
        let Some(held) = held.get(&timer.subject).filter(|_| is_real && !is_long) else {
            return false;
        };
        let mut options = held.invoice.is.options.iter();
        options.any(|option| {
            let (_, network) = option.asset.split_once('@').unwrap_or_default();
            let net = watching.network(network);
            let net = net.filter(|net| net.why_halted().is_none());
            let read = net.map(|net| read.get(&net.network.id));
            read.is_some_and(|read| read.is_some_and(|read| *read < timer.due_at))
        })
    };
    let unread = due.iter().filter(waits);
    let unread: Vec<Due> = unread.map(|(_, timer)| (*timer).clone()).collect();
    till_store::timers::put_off(tx, &unread, now + AGAIN_MS).await?;
    Ok(unread)
}

fn watched(engine: &Engine) -> Option<(&Engine, &Watching)> {
    Some((engine, engine.watching.as_ref()?))
}
