//! Sends mails that are due: claim, look at the invoice once more, send, record.
//!
//! SMTP cannot take part in a transaction. A process that dies after the server took a mail and before that
//! is recorded leaves the claim to run out, and the mail is sent a second time, with the same Message-ID, by
//! which mail programs know it for the same. The other order would lose receipts instead. Each result is
//! recorded at once, so that this window is as short as a commit.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Registry;
use till_core::invoice::Status;
use till_core::money::{Units, show};
use till_core::payment::PaymentStatus;
use till_core::scope::Scope;
use till_core::time::SECOND_MS;
use till_core::webhook::retry_delay_ms;
use till_store::invoices::InvoiceRow;
use till_store::notices::{self, NoticeRow};
use till_store::payments::PaymentRow;
use till_store::{Queries, Tx};

use crate::base::fail::Fail;
use crate::base::wake::Stopping;
use crate::base::{Engine, Merchant};
use crate::mail::render::{self, ReceiptData, ReceiptPayment, RefundData, ReminderData, Rendered};
use crate::mail::{Locale, address};
use crate::smtp::{Mail, Mailer};
use crate::workers::team_mail;

/// How many are claimed, and sent beside each other.
const CLAIM_MAX: i64 = 16;
/// Longer than any attempt may take; a worker that died is taken over after it.
pub const CLAIM_MS: i64 = 60 * SECOND_MS;
const PERIOD: Duration = Duration::from_secs(5);

pub async fn run(engine: Arc<Engine>, mut stopping: Stopping) {
    let Some(mailer) = &engine.mailer else {
        return;
    };
    loop {
        match send_batch(&engine, mailer).await {
            Ok(Batch { claimed: 0, .. }) => {}
            // There may be more; a server that is stopping leaves it to the next one.
            Ok(_) if !*stopping.borrow() => continue,
            Ok(_) => return,
            Err(fail) => tracing::error!(
                ?fail,
                "the mail worker failed, for the reason in `fail`, and tries again; look at the database if this lasts"
            ),
        }
        tokio::select! {
            () = engine.nudges.mail.notified() => {}
            () = tokio::time::sleep(PERIOD) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}

/// Sends everything that is due now, and says how many mails were tried.
pub async fn send_due(engine: &Engine) -> Result<usize, Fail> {
    let Some(mailer) = &engine.mailer else {
        return Ok(0);
    };
    let mut tried = 0;
    loop {
        let batch = send_batch(engine, mailer).await?;
        tried += batch.tried;
        if batch.claimed == 0 {
            return Ok(tried);
        }
    }
}

struct Batch {
    claimed: usize,
    tried: usize,
}

async fn send_batch(engine: &Engine, mailer: &Mailer) -> Result<Batch, Fail> {
    let to_members = team_mail::send_batch(engine, mailer).await?;
    let claimed = claim_due(engine).await?;
    let mut under_way: FuturesUnordered<_> = claimed
        .iter()
        .map(|notice| send_one(engine, mailer, notice))
        .collect();
    let mut tried = to_members;
    while let Some(done) = under_way.next().await {
        match done {
            Ok(Attempt::NothingToTell) => {}
            Ok(Attempt::Tried(_)) => tried += 1,
            // The database's doing: the claim stays, and comes back when it runs out.
            Err(fail) => tracing::error!(
                ?fail,
                "a mail could not be prepared, or its result not recorded; it will be retried"
            ),
        }
    }
    Ok(Batch {
        claimed: claimed.len() + to_members,
        tried,
    })
}

async fn send_one(engine: &Engine, mailer: &Mailer, notice: &NoticeRow) -> Result<Attempt, Fail> {
    let attempted = match attempt(engine, mailer, notice).await {
        // A notice that cannot be read, say with a key that is gone, must not come back for ever.
        Err(Fail::Broken(cause, _)) => {
            tracing::error!(notice = %notice.id, cause, "a mail could not be composed and is given up; check that secrets.key_file has the key it was encrypted with");
            Attempt::Tried(Outcome::Failed)
        }
        attempted => attempted?,
    };
    if let Attempt::Tried(outcome) = attempted {
        record(engine, notice, outcome).await?;
    }
    Ok(attempted)
}

pub async fn claim_due(engine: &Engine) -> Result<Vec<NoticeRow>, Fail> {
    engine
        .db
        .write(move |tx| {
            async move {
                let now = engine.clock.now_ms();
                Ok(notices::claim(tx, now, now + CLAIM_MS, CLAIM_MAX).await?)
            }
            .scope_boxed()
        })
        .await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    NothingToTell,
    Tried(Outcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Sent,
    Failed,
}

/// Sends one claimed mail, unless there is nothing to tell any more.
pub async fn attempt(
    engine: &Engine,
    mailer: &Mailer,
    notice: &NoticeRow,
) -> Result<Attempt, Fail> {
    let Some(mail) = prepare(engine, notice).await? else {
        return Ok(Attempt::NothingToTell);
    };
    let outcome = match mailer.send(&mail).await {
        Ok(()) => Outcome::Sent,
        Err(error) => {
            let attempt = notice.attempts + 1;
            tracing::warn!(notice = %notice.id, attempt, %error, "a mail was not sent, for the reason in `error`; it is tried again: check mail.smtp_url and mail.from if this lasts");
            Outcome::Failed
        }
    };
    let sent = match outcome {
        Outcome::Sent => "yes",
        Outcome::Failed => "no",
    };
    metrics::counter!("till_mails_total", "sent" => sent).increment(1);
    Ok(Attempt::Tried(outcome))
}

/// Records what came of it. False when the claim ran out meanwhile: whoever took it over records instead.
pub async fn record(engine: &Engine, notice: &NoticeRow, outcome: Outcome) -> Result<bool, Fail> {
    let scope = &notice.scope;
    let tried = u32::try_from(notice.attempts + 1).unwrap_or(u32::MAX);
    let jitter = u64::from_le_bytes(engine.ids.random());
    engine
        .db
        .write(move |tx| {
            async move {
                let now = engine.clock.now_ms();
                let (id, fence) = (notice.id.as_str(), notice.fence);
                Ok(match outcome {
                    Outcome::Sent => notices::record_sent(tx, scope, id, fence, now).await?,
                    Outcome::Failed => {
                        let next_at = retry_delay_ms(tried, jitter).map(|delay| now + delay);
                        notices::record_failure(tx, scope, id, fence, next_at).await?
                    }
                })
            }
            .scope_boxed()
        })
        .await
}

/// Holds the invoice while it decides: a payment undone or an address replaced before this is seen, and one
/// after it makes the notice due anew.
async fn prepare(engine: &Engine, claimed: &NoticeRow) -> Result<Option<Mail>, Fail> {
    let scope = &claimed.scope;
    engine
        .db
        .write(move |tx| {
            async move {
                let invoice = till_store::invoices::lock(tx, scope, &claimed.invoice).await?;
                let notice = notices::find(tx, scope, &claimed.id).await?;
                let (Some(invoice), Some(notice)) = (invoice, notice) else {
                    return Err(Fail::broken("a notice's invoice is missing"));
                };
                let is_held = notice.fence == claimed.fence && notice.status == "scheduled";
                let is_wanted = match notice.kind.as_str() {
                    "receipt" => notice.is_current && invoice.status.is_paid(),
                    "reminder" => invoice.status == Status::AwaitingPayment,
                    _ => true,
                };
                if !is_held || !is_wanted {
                    notices::release(tx, scope, &claimed.id, claimed.fence).await?;
                    return Ok(None);
                }
                compose(tx, engine, scope, &notice, &invoice)
                    .await
                    .map(Some)
            }
            .scope_boxed()
        })
        .await
}

async fn compose(
    tx: &mut Tx,
    engine: &Engine,
    scope: &Scope,
    notice: &NoticeRow,
    invoice: &InvoiceRow,
) -> Result<Mail, Fail> {
    let merchant = Merchant::load(tx, scope).await?;
    let merchant = Some(merchant.shown_name().to_owned());
    let locale = Locale::parse(&notice.locale)
        .ok_or_else(|| Fail::broken(format!("{} is in no language of ours", notice.id)))?;
    let rendered = match notice.kind.as_str() {
        "receipt" => receipt(tx, scope, locale, merchant.as_deref(), invoice).await?,
        "reminder" => reminder(scope, locale, merchant.as_deref(), invoice),
        _ => refund(scope, locale, merchant.as_deref(), notice)?,
    };
    Ok(Mail {
        from_name: merchant,
        to: address::open(engine, scope, notice).map_err(Fail::broken)?,
        subject: rendered.subject,
        text: rendered.text,
        html: rendered.html,
        message_id: notice.id.clone(),
        date_ms: engine.clock.now_ms(),
    })
}

async fn receipt(
    q: &mut impl Queries,
    scope: &Scope,
    locale: Locale,
    merchant: Option<&str>,
    invoice: &InvoiceRow,
) -> Result<Rendered, Fail> {
    let payments = till_store::payments::of_invoice(q, scope, &invoice.id).await?;
    let credited = payments
        .iter()
        .filter(|payment| payment.status == PaymentStatus::Credited);
    Ok(render::receipt(
        locale,
        &ReceiptData {
            mode: scope.mode,
            merchant,
            invoice: &invoice.id,
            amount: &show(
                Units(invoice.amount_minor.into()),
                invoice.currency.decimals(),
            ),
            currency: invoice.currency.code(),
            payments: credited.map(paid).collect::<Result<_, _>>()?,
            paid_at_ms: invoice.paid_at.unwrap_or(invoice.created_at),
        },
    ))
}

fn paid(payment: &PaymentRow) -> Result<ReceiptPayment<'_>, Fail> {
    let asset = Registry::builtin()
        .asset(&payment.asset)
        .ok_or_else(|| Fail::broken("a payment of an unknown asset"))?;
    Ok(ReceiptPayment {
        amount: show(payment.units, asset.decimals),
        symbol: &asset.symbol,
        network_name: &asset.network_name,
        tx_hash: &payment.tx_hash,
    })
}

fn reminder(
    scope: &Scope,
    locale: Locale,
    merchant: Option<&str>,
    invoice: &InvoiceRow,
) -> Rendered {
    let to_pay = Units(invoice.to_pay_minor().into());
    render::reminder(
        locale,
        &ReminderData {
            mode: scope.mode,
            merchant,
            invoice: &invoice.id,
            plan: invoice.description.as_deref().unwrap_or_default(),
            amount: &show(to_pay, invoice.currency.decimals()),
            currency: invoice.currency.code(),
            pay_by_ms: invoice.expires_at,
        },
    )
}

fn refund(
    scope: &Scope,
    locale: Locale,
    merchant: Option<&str>,
    notice: &NoticeRow,
) -> Result<Rendered, Fail> {
    let detail = notice
        .detail
        .as_ref()
        .ok_or_else(|| Fail::broken(format!("{} has nothing to tell", notice.id)))?;
    let asset = Registry::builtin().asset(&detail.asset);
    Ok(render::refund(
        locale,
        &RefundData {
            mode: scope.mode,
            merchant,
            invoice: &notice.invoice,
            amount: &detail.amount,
            symbol: asset.map_or(&detail.asset, |asset| &asset.symbol),
            created_at_ms: detail.created_at,
        },
    ))
}
