//! Payers who want to hear of it by mail: leaving an address, and what makes a mail due.
//!
//! Whoever touches an invoice's notices holds the invoice's lock first, in this order everywhere.

use serde::{Deserialize, Serialize};
use till_core::email::{mask, parse_email};
use till_core::error::{Code, Refusal};
use till_core::id::Kind;
use till_core::limits::NOTIFY_ADDRESSES_MAX;
use till_core::scope::Scope;
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::notices::{self, NoticeRow};

use crate::context::Context;
use crate::fail::Fail;
use crate::invoices::find_locked;
use crate::mail::Locale;
use crate::session::{self, SessionId};
use crate::vault::VaultError;
use crate::view::{NoticeView, TokenAmount};

/// What a refund's notice tells; never how to claim it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefundDetail {
    pub refunded: TokenAmount,
    pub created_at: i64,
}

/// Leaves an address for the receipt of an invoice. Refused, in this order: what is no address or language,
/// no such invoice, a token of another session or none, no mail on this server, an address left from another
/// session, one address too many.
pub async fn leave_address(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    email: &str,
    locale: Option<&str>,
    session_token: &str,
) -> Result<NoticeView, Fail> {
    let engine = context.engine;
    let email = parse_email(email).ok_or_else(|| Refusal::of(Code::EmailInvalid).param("email"))?;
    let locale = match locale {
        None => Locale::En,
        Some(tag) => Locale::parse(tag).ok_or_else(|| {
            Refusal::new(
                Code::ParameterInvalid,
                "locale must be a language tag such as \"en\" or \"pt-BR\"",
            )
            .param("locale")
        })?,
    };
    let held = find_locked(tx, context, invoice).await?;
    let session = session::check(engine, &context.scope, invoice, session_token)
        .ok_or_else(|| Refusal::of(Code::CheckoutSessionInvalid).param("session_token"))?;
    if engine.mailer.is_none() {
        return Err(Refusal::of(Code::FeatureUnavailable).into());
    }
    let left = notices::receipts(tx, &context.scope, invoice).await?;
    if left.iter().any(|notice| notice.session != session.0) {
        return Err(Refusal::of(Code::NotifySessionMismatch).into());
    }
    let same = left
        .iter()
        .find(|notice| is_address(context, invoice, &email, notice));
    if same.is_none() && left.len() >= NOTIFY_ADDRESSES_MAX as usize {
        return Err(Refusal::of(Code::NotifyLimitReached).into());
    }
    let due_at = held.row.status()?.is_paid().then_some(context.real_now);
    let status = match same {
        Some(notice) => {
            if notice.is_current == 0 {
                notices::retire_receipts(tx, &context.scope, invoice).await?;
            }
            let locale = locale.as_str();
            notices::restore_receipt(tx, &context.scope, &notice.id, locale, due_at).await?
        }
        None => {
            notices::retire_receipts(tx, &context.scope, invoice).await?;
            let notice = receipt_row(context, invoice, &email, locale, session, due_at);
            notices::insert(tx, &notice).await?;
            notice.status
        }
    };
    if due_at.is_some() {
        context.effects.mail();
    }
    Ok(NoticeView {
        object: "payer_notice",
        email: mask(&email),
        locale: locale.as_str().to_owned(),
        status,
    })
}

fn receipt_row(
    context: &Context<'_>,
    invoice: &str,
    email: &str,
    locale: Locale,
    session: SessionId,
    due_at: Option<i64>,
) -> NoticeRow {
    let (engine, scope) = (context.engine, &context.scope);
    NoticeRow {
        id: engine.ids.make(Kind::Notice),
        account: scope.account.to_string(),
        mode: scope.mode.as_str().to_owned(),
        invoice: invoice.to_owned(),
        kind: "receipt".to_owned(),
        email: engine
            .vault
            .seal(&engine.ids, &purpose(scope, invoice), email.as_bytes()),
        email_tag: engine
            .vault
            .tag(&purpose(scope, invoice), email.as_bytes())
            .into(),
        locale: locale.as_str().to_owned(),
        session: session.0.into(),
        is_current: 1,
        detail: None,
        status: "scheduled".to_owned(),
        created_at: context.real_now,
        sent_at: None,
        due_at,
        fence: 0,
        attempts: 0,
    }
}

/// The invoice was paid in full just now: its receipt goes out once this is committed.
pub async fn on_paid(tx: &mut Tx, context: &Context<'_>, invoice: &InvoiceRow) -> Result<(), Fail> {
    if notices::make_due(tx, &context.scope, &invoice.id, context.real_now).await? {
        context.effects.mail();
    }
    Ok(())
}

/// A refund was created for the invoice: whoever holds its receipt is told, in the same unit of work. The
/// caller holds the invoice.
pub async fn on_refund(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    refunded: &TokenAmount,
) -> Result<(), Fail> {
    let left = notices::receipts(tx, &context.scope, invoice).await?;
    let Some(receipt) = left.into_iter().find(|notice| notice.is_current == 1) else {
        return Ok(());
    };
    let detail = RefundDetail {
        refunded: refunded.clone(),
        created_at: context.now,
    };
    let notice = NoticeRow {
        id: context.engine.ids.make(Kind::Notice),
        kind: "refund".to_owned(),
        detail: Some(serde_json::to_string(&detail).map_err(Fail::broken)?),
        status: "scheduled".to_owned(),
        created_at: context.real_now,
        sent_at: None,
        due_at: Some(context.real_now),
        fence: 0,
        attempts: 0,
        ..receipt
    };
    notices::insert(tx, &notice).await?;
    context.effects.mail();
    Ok(())
}

/// The address of a notice, in the clear.
pub fn address(
    engine: &crate::context::Engine,
    scope: &Scope,
    notice: &NoticeRow,
) -> Result<String, VaultError> {
    let plain = engine
        .vault
        .open(&purpose(scope, &notice.invoice), &notice.email)?;
    String::from_utf8(plain).map_err(|_| VaultError::DoesNotOpen)
}

fn is_address(context: &Context<'_>, invoice: &str, email: &str, notice: &NoticeRow) -> bool {
    context.engine.vault.is_tag(
        &purpose(&context.scope, invoice),
        email.as_bytes(),
        &notice.email_tag,
    )
}

/// Bound to the invoice: neither can a ciphertext be moved to another, nor do tags tell that two invoices
/// have the same payer.
fn purpose(scope: &Scope, invoice: &str) -> String {
    format!(
        "notice_email/{}/{}/{invoice}",
        scope.account,
        scope.mode.as_str()
    )
}
