//! Fairness at payment links: anybody may order, and no client keeps others out.

use std::net::IpAddr;

use till_core::asset::{Family, Network};
use till_core::error::{Code, Refusal};
use till_core::invoice::Status;
use till_core::limits::{ACCOUNT_OPEN_LINK_INVOICES_MAX, LINK_OPEN_INVOICES_MAX};
use till_core::link::{LinkStatus, Opening, link_status, places_to_take};
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::links::{LinkRow, OpeningRow};
use till_store::{Queries, Tx};

use crate::addresses;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::settlement::{self, LockedInvoice};

/// What one client may have open at a link, it may have so many times over all links of an account.
const CLIENT_LINKS: i64 = 2;
/// Bitcoin addresses that one client may have over all links of an account: a wallet looks ahead only so far.
const CLIENT_BITCOIN_ADDRESSES: i64 = 2;

/// Payers' addresses are nobody's business: what is kept says only whether two are the same.
pub(super) struct Client {
    tag: String,
    /// As it was kept under every key that there is: rotating the key gives nobody more.
    known_as: Vec<String>,
}

impl Client {
    pub(super) fn of(engine: &Engine, client: IpAddr) -> Client {
        const PURPOSE: &str = "link_client";
        let (vault, message) = (&engine.vault, client.to_string());
        let kept = |tag: [u8; 32]| hex::encode(&tag[..16]);
        let tags = vault.tags(PURPOSE, message.as_bytes());
        Client {
            tag: kept(vault.tag(PURPOSE, message.as_bytes())),
            known_as: tags.into_iter().map(kept).collect(),
        }
    }

    /// Remembers whose invoice it is.
    pub(super) async fn opened(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
        link: &str,
        invoice: &str,
    ) -> Result<(), Fail> {
        till_store::links::opened_by(tx, &context.scope, link, &self.tag, invoice).await?;
        Ok(())
    }

    async fn held_at(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
        link: &LinkRow,
    ) -> Result<i64, Fail> {
        let mut held = 0;
        for tag in &self.known_as {
            held += till_store::links::held_by_client(tx, &context.scope, &link.id, tag).await?;
        }
        Ok(held)
    }

    /// How many of these it has opened.
    fn count(&self, open: &[OpeningRow]) -> i64 {
        let own = open.iter().filter(|it| self.known_as.contains(&it.client));
        i64::try_from(own.count()).unwrap_or(i64::MAX)
    }

    async fn held_everywhere(&self, tx: &mut Tx, context: &Context<'_>) -> Result<i64, Fail> {
        let mut held = 0;
        for tag in &self.known_as {
            held += till_store::links::held_at_all_links(tx, &context.scope, tag).await?;
        }
        Ok(held)
    }
}

/// Reserves a unit of the link for a client, or for the merchant, who has none open at any order. Where there is no room,
/// the client that has most makes some.
pub(super) async fn take_place(
    tx: &mut Tx,
    context: &Context<'_>,
    link: &LinkRow,
    client: Option<&Client>,
) -> Result<(), Fail> {
    let status = link_status(&link.state(), context.now);
    let full = match (status, status.refusal()) {
        (LinkStatus::FullyReserved, Some(refusal)) => refusal,
        (_, Some(refusal)) => return Err(refusal.into()),
        (_, None) => Refusal::of(Code::PaymentLinkBusy),
    };
    let per_link = context.engine.config.limits.open_link_invoices_per_client;
    let own = match client {
        Some(client) => client.held_at(tx, context, link).await?,
        None => 0,
    };
    if client.is_some() && own >= per_link {
        return Err(holds_too_many());
    }
    if !reserve(tx, context, link).await? {
        make_room(tx, context, Some(&link.id), own, full.clone()).await?;
        if !reserve(tx, context, link).await? {
            return Err(busy(full));
        }
    }
    let own = match client {
        Some(client) => client.held_everywhere(tx, context).await?,
        None => 0,
    };
    let full = Refusal::of(Code::PaymentLinkBusy);
    if !open_one(tx, context).await? {
        make_room(tx, context, None, own, full.clone()).await?;
        if !open_one(tx, context).await? {
            return Err(busy(full));
        }
    }
    // Counted again: whoever has opened one holds the account's count, so that nobody adds to it meanwhile.
    let own = match client {
        Some(client) => client.held_everywhere(tx, context).await?,
        None => 0,
    };
    match client.is_some() && own >= per_link.saturating_mul(CLIENT_LINKS) {
        true => Err(holds_too_many()),
        false => Ok(()),
    }
}

async fn reserve(tx: &mut Tx, context: &Context<'_>, link: &LinkRow) -> Result<bool, Fail> {
    let most = i64::from(LINK_OPEN_INVOICES_MAX);
    Ok(till_store::links::reserve(tx, &context.scope, &link.id, most).await?)
}

async fn open_one(tx: &mut Tx, context: &Context<'_>) -> Result<bool, Fail> {
    let most = i64::from(ACCOUNT_OPEN_LINK_INVOICES_MAX);
    Ok(till_store::links::open_one(tx, &context.scope, most).await?)
}

fn holds_too_many() -> Fail {
    let message =
        "You have too many unpaid invoices open here. Pay one, or wait until one expires.";
    busy(Refusal::new(Code::PaymentLinkBusy, message))
}

fn busy(refusal: Refusal) -> Fail {
    count("refused");
    refusal.into()
}

fn count(outcome: &'static str) {
    metrics::counter!("till_links_busy_total", "outcome" => outcome).increment(1);
}

/// Whether a client, or the merchant, would find a place at a link all of whose units are reserved.
pub(super) async fn has_room(
    q: &mut impl Queries,
    scope: &Scope,
    link: &str,
    client: Option<&Client>,
) -> Result<bool, Fail> {
    let open = till_store::links::open_at(q, scope, Some(link)).await?;
    let choices = choices(&open, client.map_or(0, |client| client.count(&open)));
    let bound = till_store::bindings::bound_among(q, scope, &choices).await?;
    Ok(choices.iter().any(|invoice| !bound.contains(*invoice)))
}

fn choices(open: &[OpeningRow], own: i64) -> Vec<&str> {
    let open = open.iter().map(|row| Opening {
        client: &row.client,
        invoice: &row.invoice,
        picked: row.is_picked(),
    });
    let open: Vec<Opening<'_>> = open.collect();
    places_to_take(&open, usize::try_from(own).unwrap_or(usize::MAX))
}

/// Ends the oldest invoice without a picked network of the client that has most at the link, or in the account. One that
/// somebody else holds at this moment, that a wallet is bound to, or that a payment has come to, is passed over.
async fn make_room(
    tx: &mut Tx,
    context: &Context<'_>,
    link: Option<&str>,
    own: i64,
    full: Refusal,
) -> Result<(), Fail> {
    let open = till_store::links::open_at(tx, &context.scope, link).await?;
    for invoice in choices(&open, own) {
        let held = settlement::hold_free(tx, &[(&context.scope, invoice)]).await?;
        let Some(mut held) = held.into_iter().find(|held| is_untouched(held, context)) else {
            continue;
        };
        // Its payer was told what to send, and may be sending it.
        let bound = till_store::bindings::bound_among(tx, &context.scope, &[invoice]).await?;
        if !bound.is_empty() {
            continue;
        }
        held.invoice.is.select_by = Some(held.moment(context));
        settlement::settle(tx, context, held, None).await?;
        count("displaced");
        return Ok(());
    }
    Err(busy(full))
}

fn is_untouched(held: &LockedInvoice, context: &Context<'_>) -> bool {
    let has_address = held
        .invoice
        .is
        .options
        .iter()
        .any(|it| it.deposit.is_some());
    let status = held.assess(held.moment(context)).status;
    !has_address && held.payments.is_empty() && status == Status::AwaitingPayment
}

/// One client does not get to pick networks, and take addresses, for all that it may have open at a link. What the merchant
/// opened, and what was picked already, is not counted.
pub async fn leave_picks_to_others(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &InvoiceRow,
) -> Result<(), Fail> {
    let scope = &context.scope;
    let Some(opening) = opening_of(tx, context, invoice).await? else {
        return Ok(());
    };
    if opening.is_picked() {
        return Ok(());
    }
    // Whoever picks at the link waits here, so that two at once are counted one after the other.
    till_store::links::lock(tx, scope, &opening.link).await?;
    let open = till_store::links::open_at(tx, scope, Some(&opening.link)).await?;
    let of_client = open.iter().filter(|it| it.client == opening.client);
    let picked = of_client.filter(|it| it.is_picked()).count();
    let most = context.engine.config.limits.picked_link_invoices_per_client;
    match i64::try_from(picked).map_err(Fail::broken)? < most {
        true => Ok(()),
        false => {
            let message = "You have picked a network for too many unpaid invoices here. Pay one, or wait until one expires.";
            Err(busy(Refusal::new(Code::PaymentLinkBusy, message)))
        }
    }
}

/// Nor to take the few Bitcoin addresses that there are at a time from the others.
pub async fn leave_bitcoin_to_others(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &InvoiceRow,
    network: &Network,
) -> Result<(), Fail> {
    if network.family != Family::Bitcoin {
        return Ok(());
    }
    let Some(opening) = opening_of(tx, context, invoice).await? else {
        return Ok(());
    };
    let (scope, now) = (&context.scope, context.now);
    // Whoever takes an address holds the pool, so that two at once are counted one after the other.
    till_store::leases::lock_pool(tx, scope, network.family).await?;
    let client = &opening.client;
    let held = till_store::links::bitcoin_addresses_of(tx, scope, client, now).await?;
    match held < CLIENT_BITCOIN_ADDRESSES {
        true => Ok(()),
        false => Err(busy(addresses::exhausted(&network.name))),
    }
}

/// An invoice for which a network was picked keeps its place.
pub async fn picked(tx: &mut Tx, context: &Context<'_>, invoice: &InvoiceRow) -> Result<(), Fail> {
    if invoice.payment_link.is_some() {
        till_store::links::mark_picked(tx, &context.scope, &invoice.id).await?;
    }
    Ok(())
}

async fn opening_of(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &InvoiceRow,
) -> Result<Option<OpeningRow>, Fail> {
    match invoice.payment_link {
        Some(_) => Ok(till_store::links::opening_of(tx, &context.scope, &invoice.id).await?),
        None => Ok(None),
    }
}
