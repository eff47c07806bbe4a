//! Pausing, resuming and cancelling, as merchants ask for it.

use till_core::event::EventType;
use till_core::subscription::{self, ChangeNeeded, ChargeState, Reason, When};
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};

use super::charge::{Occasion, charge, earlier, invoice_failed};
use super::find::find;
use super::hold::{Locked, hold, hold_with};
use super::looks::share_again;
use super::step::{catch_up, end};
use super::up_to_date::look_first;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::settlement::follow::period::{place, rhythm};
use crate::settlement::follow::subscription::{restate, told};
use crate::view::SubscriptionView;

/// How many future periods are searched for payments by credit. At most two can be paid ahead, at creation where
/// periods are days; the rest is margin.
const AHEAD_MAX: i64 = 4;

impl Locked {
    /// Forgives the periods whose invoices the pause cancelled, and makes the first period that is still owed the next
    /// one.
    async fn forgive(&mut self, tx: &mut Tx, owed: &Owed) -> Result<(), Fail> {
        let forgiven: Vec<ChargeRow> = owed.forgiven.iter().map(forgiven).collect();
        tx.write(&subscriptions::charge_states(&forgiven)?).await?;
        let row = &mut self.row;
        row.next_period = owed.first.map_or(row.reached, |first| first.period);
        row.paid_until = owed.first.map(|first| first.start).or(owed.until);
        if self.charge.is_none() {
            row.grace_end = owed.first.map(|first| first.late_at);
        }
        Ok(())
    }

    /// Where the first period that was never paid begins after a pause: now, if it had not begun before the pause or
    /// the pause cancelled its invoice. Otherwise it moves by the length of the pause, and the part of it that had
    /// passed is charged.
    async fn after_the_pause(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
        paused_at: i64,
    ) -> Result<i64, Fail> {
        let (row, now) = (&self.row, context.now);
        let (start, _) = rhythm(row, &self.plan).period(row.reached);
        let made = subscriptions::charges_of_period(tx, &row.scope, &row.id, row.reached).await?;
        let last = made.iter().rfind(|made| made.period_start == start);
        let is_cancelled = last.is_some_and(|last| last.state == ChargeState::Paused);
        // Attempts from before the pause are known by where their period began then: a pause that is over in the moment in which it
        // began moves it as well.
        Ok(match start >= paused_at || is_cancelled {
            true => now,
            false => now
                .max(paused_at + 1)
                .saturating_sub(paused_at.saturating_sub(start)),
        })
    }

    /// Begins the first period that was never paid at `start`. The attempt under way keeps what was paid to it, and its
    /// time begins again. A period that was paid once and is owed again is charged before it.
    async fn start_anew(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        start: i64,
    ) -> Result<(), Fail> {
        let row = &mut self.row;
        (row.anchor, row.anchor_period) = (start, row.reached);
        (row.current_period_start, row.current_period_end) =
            rhythm(row, &self.plan).period(row.reached);
        let Some(mut charge) = self.charge.take() else {
            return Ok(());
        };
        if charge.period == self.row.reached {
            self.move_to_its_place(&mut charge);
            tx.write(&subscriptions::charge_states([&charge])?).await?;
        }
        self.row.grace_end = Some(charge.grace_end);
        self.charge = Some(charge);
        let attempt = self.row.attempt;
        self.give_time(tx, context, attempt).await
    }

    /// The attempt that was first paid during the pause, if there is one.
    async fn paid_meanwhile(&self, tx: &mut Tx) -> Result<Option<ChargeRow>, Fail> {
        let row = &self.row;
        let passed = subscriptions::passed_from(tx, &row.scope, &row.id, row.reached).await?;
        let is_paid = |it: &ChargeRow| it.period == row.reached && it.state == ChargeState::Paid;
        Ok(passed.into_iter().find(is_paid))
    }

    /// Gives what was paid during the pause its place in time.
    async fn place(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut paid: ChargeRow,
    ) -> Result<(), Fail> {
        self.move_to_its_place(&mut paid);
        tx.write(&subscriptions::charge_states([&paid])?).await?;
        let (scope, id, after) = (&context.scope, &self.row.id, paid.period + 1);
        let passed = subscriptions::passed_from(tx, scope, id, after).await?;
        place(&mut self.row, &self.plan, &paid, context.now, &passed);
        Ok(())
    }

    async fn tell(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        event: EventType,
    ) -> Result<(), Fail> {
        let now = context.now;
        // Ids rise as events are made: what was asked for comes before what follows from it.
        let is_late = restate(now, &mut self.row, &self.plan);
        let mut events = vec![told(context, now, event, &self.row, None)?];
        if is_late {
            let event = EventType::SubscriptionPastDue;
            events.push(told(context, now, event, &self.row, None)?);
        }
        outbox::record(tx, context, &events).await
    }
}

/// The subscription, after everything that is due about its customer was done.
async fn up_to_date(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<SubscriptionRow, Fail> {
    look_first(tx, context, id).await?;
    find(tx, &context.scope, id).await
}

async fn found(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<Locked, Fail> {
    let seen = up_to_date(tx, context, id).await?;
    hold(tx, context, &seen).await
}

/// Future periods paid by credit alone, latest first, each with the credit it took.
async fn ahead(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &SubscriptionRow,
) -> Result<Vec<(ChargeRow, Vec<CreditRow>)>, Fail> {
    let (scope, now) = (&context.scope, context.now);
    // At most a few lie ahead: a period is charged a day before it begins.
    let passed =
        subscriptions::passed_from(tx, scope, &row.id, row.next_period - AHEAD_MAX).await?;
    let is_ahead = |paid: &ChargeRow| paid.invoice.is_none() && paid.period_start > now;
    let mut ahead = Vec::new();
    for charge in passed.into_iter().rev().filter(is_ahead) {
        let taken = credits::of_charge(tx, scope, &row.id, charge.number).await?;
        ahead.push((charge, taken));
    }
    Ok(ahead)
}

async fn finish(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: Locked,
) -> Result<SubscriptionView, Fail> {
    let row = Box::pin(catch_up(tx, context, locked)).await?;
    let row = up_to_date(tx, context, &row.id).await?;
    Ok(SubscriptionView::of(&row)?)
}

pub async fn pause(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<SubscriptionView, Fail> {
    let mut locked = found(tx, context, id).await?;
    subscription::pause(locked.row.status)?;
    let by_the_pause = ChargeState::Paused;
    locked.drop_charge_as(tx, context, by_the_pause).await?;
    locked.row.paused_at = Some(context.now);
    let paused = EventType::SubscriptionPaused;
    locked.tell(tx, context, paused).await?;
    finish(tx, context, locked).await
}

fn forgiven(charge: &ChargeRow) -> ChargeRow {
    ChargeRow {
        state: ChargeState::Forgiven,
        ..charge.clone()
    }
}

/// A period that is owed again: it was paid once, and what paid it is gone.
#[derive(Clone, Copy, Debug)]
struct First {
    period: i64,
    start: i64,
    late_at: i64,
}

/// The periods that are owed again, as a pause leaves them.
struct Owed {
    /// The first that the pause did not forgive.
    first: Option<First>,
    /// Where the last period ends that is paid or still owed.
    until: Option<i64>,
    /// The last attempts at periods that are forgiven: they were owed when the pause began, and it cancelled their
    /// invoices.
    forgiven: Vec<ChargeRow>,
}

/// `meanwhile` is what was paid during the pause: the paid time goes on after that, and ends before it as long as it has no
/// place.
async fn owed(
    tx: &mut Tx,
    row: &SubscriptionRow,
    meanwhile: Option<&ChargeRow>,
) -> Result<Owed, Fail> {
    let made = subscriptions::charges_from(tx, &row.scope, &row.id, row.next_period).await?;
    let last = meanwhile.filter(|paid| paid.period < row.next_period);
    let mut owed = Owed {
        first: None,
        until: last.map_or(row.paid_until, |paid| Some(paid.period_start)),
        forgiven: Vec::new(),
    };
    for period in row.next_period..row.reached {
        let of = || made.iter().filter(|made| made.period == period);
        let passed =
            of().find(|made| matches!(made.state, ChargeState::Paid | ChargeState::Forgiven));
        match passed.or_else(|| of().next_back()) {
            Some(last) if last.state == ChargeState::Paused => owed.forgiven.push(last.clone()),
            Some(last) => {
                owed.until = owed.until.max(Some(last.period_end));
                if passed.is_none() {
                    let late_at = of().map(|made| made.grace_end).min();
                    owed.first = owed.first.or(Some(First {
                        period,
                        start: last.period_start,
                        late_at: late_at.unwrap_or(last.grace_end),
                    }));
                }
            }
            None => {}
        }
    }
    Ok(owed)
}

/// Resumes a subscription: within the paid time billing goes on as it was, after it a new period begins. Periods whose
/// invoices the pause cancelled are forgiven either way.
pub async fn resume(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
) -> Result<SubscriptionView, Fail> {
    let mut locked = found(tx, context, id).await?;
    if subscription::resume(locked.row.status)? == ChangeNeeded::Unchanged {
        return Ok(SubscriptionView::of(&locked.row)?);
    }
    // An invoice that closed while nobody was charged counts as no attempt: none was due.
    if locked.row.charge_closed {
        locked.drop_charge(tx, context).await?;
    }
    let paused_at = locked.row.paused_at.take();
    let meanwhile = locked.paid_meanwhile(tx).await?;
    let owed = owed(tx, &locked.row, meanwhile.as_ref()).await?;
    locked.forgive(tx, &owed).await?;
    let is_over = owed.until.is_none_or(|end| end <= context.now);
    let restarts = is_over && !locked.row.cancel_at_period_end;
    if restarts {
        let paused_at = paused_at.unwrap_or(context.now);
        let start = locked.after_the_pause(tx, context, paused_at).await?;
        locked.start_anew(tx, context, start).await?;
    }
    if let Some(paid) = meanwhile {
        locked.place(tx, context, paid).await?;
    }
    let is_paid = locked.row.paid_until.is_some_and(|end| end > context.now);
    let resumed = EventType::SubscriptionResumed;
    locked.tell(tx, context, resumed).await?;
    let is_charged =
        locked.row.charge.is_some() || earlier(tx, context, &locked.row).await?.is_some();
    if restarts && !is_paid && !is_charged {
        let charged = charge(tx, context, &mut locked, Occasion::Asked).await;
        charged.map_err(invoice_failed)?;
    }
    // Credit is shared anew: this period may have been asked for before others that have credit now.
    share_again(tx, context, &locked.row.customer).await?;
    finish(tx, context, locked).await
}

pub async fn cancel(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    when: When,
) -> Result<SubscriptionView, Fail> {
    let seen = up_to_date(tx, context, id).await?;
    let top_ups: Vec<String> = ahead(tx, context, &seen)
        .await?
        .iter()
        .flat_map(|(_, taken)| taken.iter().map(|entry| entry.top_up.clone()))
        .collect();
    let mut locked = hold_with(tx, context, &seen, None, top_ups.clone()).await?;
    let row = &locked.row;
    let (is_set, ended) = (row.cancel_at_period_end, row.cancellation_reason);
    if subscription::cancel(row.status, when, is_set, ended)? == ChangeNeeded::Unchanged {
        return Ok(SubscriptionView::of(row)?);
    }
    locked.row.cancel_at_period_end = when == When::PeriodEnd;
    if let (When::Now, Some(held)) = (when, &mut locked.invoice) {
        held.is_of_ended = true;
    }
    locked.drop_charge(tx, context).await?;
    match when {
        When::Now => {
            for (charge, taken) in ahead(tx, context, &locked.row).await? {
                if taken.iter().any(|entry| !top_ups.contains(&entry.top_up)) {
                    return Err(Fail::Again);
                }
                locked.unpay(tx, context, charge, taken).await?;
            }
            end(tx, context, &mut locked, Reason::Requested).await?;
        }
        When::PeriodEnd => {
            let updated = EventType::SubscriptionUpdated;
            locked.tell(tx, context, updated).await?;
        }
    }
    finish(tx, context, locked).await
}
