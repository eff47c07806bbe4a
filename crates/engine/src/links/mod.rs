//! Payment links: made and changed by merchants, and turned into invoices by payers.

mod fairness;

pub use fairness::{leave_bitcoin_to_others, leave_picks_to_others, picked};

use std::collections::BTreeMap;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::id::IdKind;
use till_core::link::{AmountType, LinkPrice, LinkStatus, check_price, link_status, payer_amount};
use till_core::money::{self, Currency, Units};
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::links::LinkRow;
use till_store::{Metadata, Queries, ReadSource, Tx};

use self::fairness::{Client, has_room, take_place};
use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::base::{Change, Context, Engine, Merchant};
use crate::invoices::create;
use crate::invoices::quote::{NewInvoice, check_return_url};
use crate::offers;
use crate::outbox::{self, EventContent};
use crate::view::{LinkView, PayerLinkView};

/// What a merchant says about a link; on creation, what is not said is empty.
#[derive(Clone, Debug, Default)]
pub struct LinkChange {
    pub amount_type: Change<AmountType>,
    pub currency: Change<String>,
    pub amount: Change<String>,
    pub min_amount: Change<String>,
    pub max_amount: Change<String>,
    pub description: Change<String>,
    pub assets: Change<Vec<String>>,
    pub quantity_limit: Change<i64>,
    pub expires_at: Change<i64>,
    pub return_url: Change<String>,
    pub metadata: Change<BTreeMap<String, String>>,
    pub active: Change<bool>,
}

fn render(context: &Context<'_>, row: &LinkRow) -> Result<LinkView, Fail> {
    let key = context.merchant.row.publishable_key.as_deref();
    Ok(LinkView::of(row, &context.engine.config.checkout_url, key)?)
}

pub async fn create(
    tx: &mut Tx,
    context: &Context<'_>,
    change: &LinkChange,
) -> Result<LinkView, Fail> {
    let engine = context.engine;
    let currency = match &change.currency {
        Change::Set(code) => Currency::parse(code),
        Change::Keep | Change::Clear => None,
    };
    let mut row = LinkRow {
        scope: context.scope.clone(),
        id: engine.ids.make(IdKind::PaymentLink),
        // 128 random bits are 22 characters.
        slug: URL_SAFE_NO_PAD.encode(engine.ids.random::<16>()),
        amount_type: AmountType::Fixed,
        currency: currency.ok_or_else(offers::unknown_currency)?,
        amount: None,
        min_amount: None,
        max_amount: None,
        description: None,
        assets: None,
        quantity_limit: None,
        quantity_used: 0,
        quantity_reserved: 0,
        expires_at: None,
        return_url: None,
        metadata: Metadata::default(),
        active: true,
        created_at: context.now,
    };
    apply(context, &mut row, change)?;
    check(context, &mut row)?;
    check_assets(context, &mut row)?;
    till_store::links::insert(tx, &row).await?;
    announce(tx, context, &row, &[EventType::PaymentLinkCreated]).await?;
    render(context, &row)
}

pub async fn update(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    change: &LinkChange,
) -> Result<LinkView, Fail> {
    let before = find_locked(tx, context, id).await?;
    let mut row = before.clone();
    apply(context, &mut row, change)?;
    check(context, &mut row)?;
    // What became unavailable since keeps nobody from switching the link off.
    if (&row.assets, row.currency) != (&before.assets, before.currency) {
        check_assets(context, &mut row)?;
    }
    if row == before {
        return render(context, &row);
    }
    till_store::links::update(tx, &row).await?;
    let switched_off = before.active && !row.active;
    let otherwise = LinkRow {
        active: before.active,
        ..row.clone()
    } != before
        || (!before.active && row.active);
    let mut events = Vec::new();
    if otherwise {
        events.push(EventType::PaymentLinkUpdated);
    }
    if switched_off {
        events.push(EventType::PaymentLinkDeactivated);
    }
    announce(tx, context, &row, &events).await?;
    render(context, &row)
}

fn apply(context: &Context<'_>, row: &mut LinkRow, change: &LinkChange) -> Result<(), Fail> {
    if let Change::Set(amount_type) = change.amount_type {
        row.amount_type = amount_type;
    }
    if let Change::Set(currency) = &change.currency {
        row.currency = Currency::parse(currency).ok_or_else(offers::unknown_currency)?;
    }
    change.amount.apply(&mut row.amount);
    change.min_amount.apply(&mut row.min_amount);
    change.max_amount.apply(&mut row.max_amount);
    change.description.apply(&mut row.description);
    change.quantity_limit.apply(&mut row.quantity_limit);
    if let Change::Set(at) = change.expires_at
        && at <= context.now
    {
        let refusal = Refusal::new(Code::ParameterInvalid, "expires_at must be in the future");
        return Err(refusal.param("expires_at").into());
    }
    change.expires_at.apply(&mut row.expires_at);
    change.assets.apply(&mut row.assets);
    change.return_url.apply(&mut row.return_url);
    match &change.metadata {
        Change::Keep => {}
        Change::Clear => row.metadata = Metadata::default(),
        Change::Set(metadata) => row.metadata = Metadata::new(metadata),
    }
    if let Change::Set(active) = change.active {
        row.active = active;
    }
    Ok(())
}

/// The combination of all fields, whichever of them were sent. Amounts are written in the currency's form.
fn check(context: &Context<'_>, row: &mut LinkRow) -> Result<(), Fail> {
    check_price(&price_of(row))?;
    let decimals = row.currency.decimals();
    for amount in [&mut row.amount, &mut row.min_amount, &mut row.max_amount] {
        let units = amount.as_deref().map(|text| money::parse(text, decimals));
        *amount = units
            .and_then(Result::ok)
            .map(|units| money::show(units, decimals));
    }
    Ok(check_return_url(context, row.return_url.as_deref())?)
}

/// Somebody could pay: what the link offers, or the merchant does by default at this moment, has a price in its currency.
fn check_assets(context: &Context<'_>, row: &mut LinkRow) -> Result<(), Fail> {
    match &mut row.assets {
        Some(assets) => {
            let offered = offers::offered(context, assets, "assets", row.currency)?;
            *assets = offers::codes(&offered);
        }
        None => offers::check_defaults(context, row.currency)?,
    }
    Ok(())
}

fn price_of(row: &LinkRow) -> LinkPrice<'_> {
    LinkPrice {
        amount_type: row.amount_type,
        currency: row.currency,
        amount: row.amount.as_deref(),
        min_amount: row.min_amount.as_deref(),
        max_amount: row.max_amount.as_deref(),
    }
}

async fn announce(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &LinkRow,
    types: &[EventType],
) -> Result<(), Fail> {
    let object = serde_json::to_string(&render(context, row)?).map_err(Fail::broken)?;
    let event = |event: &EventType| {
        let told = EventContent {
            event: *event,
            subject: &row.id,
            invoice: None,
            stream_seq: None,
            object: &object,
            extra: None,
            payments: None,
        };
        outbox::make(context, told)
    };
    let told: Vec<_> = types.iter().map(event).collect();
    outbox::record(tx, context, &told).await
}

async fn find_locked(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<LinkRow, Fail> {
    let found = match till_core::id::is(IdKind::PaymentLink, id) {
        true => till_store::links::lock(tx, &context.scope, id).await?,
        false => None,
    };
    match found {
        Some(row) => Ok(row),
        None => Err(missing_link(tx, &context.scope, id).await?.into()),
    }
}

async fn missing_link(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<Refusal, Fail> {
    if !till_core::id::is(IdKind::PaymentLink, id) {
        return Ok(missing("payment link", id));
    }
    let other = till_store::links::find(q, &scope.in_other_mode(), id).await?;
    Ok(missing_or_in_mode("payment link", id, scope, other))
}

async fn find_by_slug(q: &mut impl Queries, scope: &Scope, slug: &str) -> Result<LinkRow, Fail> {
    let found = till_store::links::by_slug(q, scope, slug).await?;
    if let Some(row) = found {
        return Ok(row);
    }
    let other = till_store::links::by_slug(q, &scope.in_other_mode(), slug).await?;
    Err(missing_or_in_mode("payment link", slug, scope, other).into())
}

pub async fn list(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    key: Option<&str>,
    active: Option<bool>,
    page: &Page,
) -> Result<Paged<LinkView>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::links::list(&mut reader, scope, active, &page.and_one()).await?;
    page.cut(rows, |row| &row.id)
        .try_map(|row| Ok(LinkView::of(&row, &engine.config.checkout_url, key)?))
}

/// A link as its merchant sees it; `key` is the publishable key its address carries.
pub async fn retrieve(
    engine: &Engine,
    scope: &Scope,
    key: Option<&str>,
    id: &str,
) -> Result<LinkView, Fail> {
    let mut reader = engine.db.read().await?;
    let found = match till_core::id::is(IdKind::PaymentLink, id) {
        true => till_store::links::find(&mut reader, scope, id).await?,
        false => None,
    };
    let row = match found {
        Some(row) => row,
        None => return Err(missing_link(&mut reader, scope, id).await?.into()),
    };
    Ok(LinkView::of(&row, &engine.config.checkout_url, key)?)
}

/// A link as its payers see it; what is said of room is for `client`, unless the merchant asks.
pub async fn retrieve_by_slug(
    engine: &Engine,
    scope: &Scope,
    slug: &str,
    client: Option<IpAddr>,
) -> Result<PayerLinkView, Fail> {
    let mut reader = engine.db.read().await?;
    let row = find_by_slug(&mut reader, scope, slug).await?;
    let merchant = Merchant::load(&mut reader, scope).await?;
    let now = merchant.now(engine.clock.now_ms());
    let mut status = link_status(&row.state(), now);
    if status == LinkStatus::FullyReserved {
        let client = client.map(|client| Client::of(engine, client));
        if has_room(&mut reader, scope, &row.id, client.as_ref()).await? {
            status = LinkStatus::Active;
        }
    }
    // The defaults may have changed since it was made: nobody is asked to order what no invoice can be made of.
    if !offers::can_be_priced(engine, &merchant, row.assets.as_deref(), row.currency) {
        status = LinkStatus::Inactive;
    }
    Ok(PayerLinkView::of(&row, &merchant, status))
}

/// One invoice for one payer, who comes from `client` unless the merchant asks: reserves a unit, and holds no address until the payer picks a network.
pub async fn create_invoice(
    tx: &mut Tx,
    context: &Context<'_>,
    slug: &str,
    chosen: Option<&str>,
    client: Option<IpAddr>,
) -> Result<InvoiceRow, Fail> {
    let link = find_by_slug(tx, &context.scope, slug).await?;
    // The row lock makes switching the link off and making an invoice from it happen one after the other.
    let link = find_locked(tx, context, &link.id).await?;
    let (merchant, assets) = (&context.merchant, link.assets.as_deref());
    // The merchant's to mend, and nothing that the payer has sent.
    if !offers::can_be_priced(context.engine, merchant, assets, link.currency) {
        return Err(Refusal::of(Code::PaymentLinkInactive).into());
    }
    let price = price_of(&link);
    let amount_minor = payer_amount(&price, chosen)?;
    let client = client.map(|client| Client::of(context.engine, client));
    take_place(tx, context, &link, client.as_ref()).await?;
    let request = NewInvoice {
        amount: money::show(Units(amount_minor.into()), price.currency.decimals()),
        currency: link.currency.code().to_owned(),
        assets: link.assets.clone(),
        description: link.description.clone(),
        customer_ref: None,
        return_url: link.return_url.clone(),
        metadata: link.metadata.entries()?,
    };
    let row = create::create_link_invoice(tx, context, &request, &link).await?;
    if let Some(client) = &client {
        client.opened(tx, context, &link.id, &row.id).await?;
    }
    Ok(row)
}
