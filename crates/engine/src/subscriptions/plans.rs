//! Plans. A plan never changes after it was created; it can only be archived.

use till_core::calendar::{Unit, Zone};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::money::Currency;
use till_core::page::{Page, Paged};
use till_core::plan::{PlanStatus, check_interval};
use till_core::pricing::price_minor;
use till_core::scope::Scope;
use till_store::plans::PlanRow;
use till_store::{Queries, ReadSource, Tx};

use super::charge::NOT_STEADY;
use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::base::{Context, Engine};
use crate::offers;
use crate::view::PlanView;

/// A request for a plan: defaults filled in, bounds of single fields checked.
#[derive(Clone, Debug)]
pub struct NewPlan {
    pub name: String,
    pub amount: String,
    pub currency: String,
    pub interval: Unit,
    pub interval_count: u32,
    pub trial_days: u32,
    pub grace_days: u32,
    pub max_attempts: u32,
    pub assets: Option<Vec<String>>,
    pub billing_timezone: Option<String>,
}

pub async fn create(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewPlan,
) -> Result<PlanView, Fail> {
    let currency = Currency::parse(&request.currency).ok_or_else(offers::unknown_currency)?;
    let amount_minor = price_minor("amount", &request.amount, currency)?;
    check_interval(request.interval, request.interval_count)?;
    let mut assets = None;
    if let Some(named) = &request.assets {
        let offered = offers::offered(context, named, "assets", currency)?;
        offers::steady(context, Some(named), NOT_STEADY)?;
        assets = Some(offers::codes(&offered));
    }
    if !offers::has_stablecoin(context, currency) {
        let message = format!(
            "No asset is priced in {}, so nobody could pay.",
            currency.code()
        );
        let refusal = Refusal::new(Code::CurrencyUnsupported, message).param("currency");
        return Err(refusal.into());
    }
    let billing_timezone = match &request.billing_timezone {
        None => Zone::utc(),
        Some(name) => Zone::parse(name).ok_or_else(unknown_zone)?,
    };
    let row = PlanRow {
        scope: context.scope.clone(),
        id: context.engine.ids.make(IdKind::Plan),
        status: PlanStatus::Active,
        name: request.name.clone(),
        amount_minor,
        currency,
        interval_unit: request.interval,
        interval_count: request.interval_count,
        trial_days: request.trial_days,
        grace_days: request.grace_days,
        max_attempts: request.max_attempts,
        assets,
        billing_timezone,
        created_at: context.now,
    };
    till_store::plans::insert(tx, &row).await?;
    Ok(PlanView::of(&row))
}

/// Archiving an archived plan changes nothing.
pub async fn archive(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<PlanView, Fail> {
    let found = match till_core::id::is(IdKind::Plan, id) {
        true => till_store::plans::lock(tx, &context.scope, id).await?,
        false => None,
    };
    let Some(mut row) = found else {
        return Err(missing_plan(tx, &context.scope, id).await?.into());
    };
    if row.status != PlanStatus::Archived {
        row.status = PlanStatus::Archived;
        till_store::plans::set_status(tx, &row).await?;
    }
    Ok(PlanView::of(&row))
}

pub async fn list(reads: &ReadSource, scope: &Scope, page: &Page) -> Result<Paged<PlanView>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::plans::list(&mut reader, scope, &page.and_one()).await?;
    Ok(page.cut(rows, |row| &row.id).map(|row| PlanView::of(&row)))
}

pub async fn retrieve(engine: &Engine, scope: &Scope, id: &str) -> Result<PlanView, Fail> {
    let row = find(&mut engine.db.read().await?, scope, id).await?;
    Ok(PlanView::of(&row))
}

async fn find(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<PlanRow, Fail> {
    if till_core::id::is(IdKind::Plan, id)
        && let Some(row) = till_store::plans::find(q, scope, id).await?
    {
        return Ok(row);
    }
    Err(missing_plan(q, scope, id).await?.into())
}

async fn missing_plan(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<Refusal, Fail> {
    if !till_core::id::is(IdKind::Plan, id) {
        return Ok(missing("plan", id));
    }
    let other = till_store::plans::find(q, &scope.in_other_mode(), id).await?;
    Ok(missing_or_in_mode("plan", id, scope, other))
}

fn unknown_zone() -> Refusal {
    let message = "billing_timezone must be an IANA name such as \"Europe/Berlin\"";
    Refusal::new(Code::ParameterInvalid, message).param("billing_timezone")
}
