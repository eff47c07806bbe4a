//! Reminders: a mail to the customer, in the merchant's name, sent once the renewal's invoice is committed.

use till_core::id::IdKind;
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::notices::{self, NoticeRow};

use crate::base::Context;
use crate::base::fail::Fail;
use crate::customers;
use crate::mail::{Locale, address};

pub(super) async fn remind(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
    invoice: &InvoiceRow,
) -> Result<(), Fail> {
    let (engine, scope) = (context.engine, &context.scope);
    if engine.mailer.is_none() {
        return Ok(());
    }
    let customer = till_store::customers::find(tx, scope, customer).await?;
    let customer = customer.ok_or_else(|| Fail::broken("a subscription's customer is missing"))?;
    let Some(email) = customers::email_of(engine, &customer)? else {
        return Ok(());
    };
    let sealed = address::seal(engine, scope, &invoice.id, &email)?;
    let notice = NoticeRow {
        scope: scope.clone(),
        id: engine.ids.make(IdKind::Notice),
        invoice: invoice.id.clone(),
        kind: "reminder".to_owned(),
        email: sealed.email,
        email_tag: sealed.tag,
        locale: Locale::En.as_str().to_owned(),
        session: Vec::new(),
        is_current: false,
        detail: None,
        status: "scheduled".to_owned(),
        created_at: context.real_now,
        sent_at: None,
        due_at: Some(context.real_now),
        fence: 0,
        attempts: 0,
    };
    notices::insert(tx, &notice).await?;
    context.effects.mail();
    Ok(())
}
