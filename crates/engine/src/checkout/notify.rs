//! Payers who want to hear of it by mail: leaving an address.
//!
//! Whoever touches an invoice's notices holds the invoice's lock first, in this order everywhere.

use till_core::email::{mask, parse_email};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::limits::NOTIFY_ADDRESSES_MAX;
use till_store::Tx;
use till_store::notices::{self, NoticeRow};

use crate::base::Context;
use crate::base::fail::Fail;
use crate::checkout::session::{self, SessionId};
use crate::invoices::find_locked;
use crate::mail::{Locale, address};
use crate::view::NoticeView;

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
        .find(|notice| address::is_same(engine, &context.scope, &email, notice));
    if same.is_none() && left.len() >= NOTIFY_ADDRESSES_MAX as usize {
        return Err(Refusal::of(Code::NotifyLimitReached).into());
    }
    let due_at = held.invoice.is.status.is_paid().then_some(context.real_now);
    let status = match same {
        Some(notice) => {
            if !notice.is_current {
                notices::retire_receipts(tx, &context.scope, invoice).await?;
            }
            let locale = locale.as_str();
            notices::restore_receipt(tx, &context.scope, &notice.id, locale, due_at).await?
        }
        None => {
            notices::retire_receipts(tx, &context.scope, invoice).await?;
            let notice = receipt_row(context, invoice, &email, locale, session, due_at)?;
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
) -> Result<NoticeRow, Refusal> {
    let (engine, scope) = (context.engine, &context.scope);
    let sealed = address::seal(engine, scope, invoice, email)?;
    Ok(NoticeRow {
        id: engine.ids.make(IdKind::Notice),
        scope: scope.clone(),
        invoice: invoice.to_owned(),
        kind: "receipt".to_owned(),
        email: sealed.email,
        email_tag: sealed.tag,
        locale: locale.as_str().to_owned(),
        session: session.0.into(),
        is_current: true,
        detail: None,
        status: "scheduled".to_owned(),
        created_at: context.real_now,
        sent_at: None,
        due_at,
        fence: 0,
        attempts: 0,
    })
}
