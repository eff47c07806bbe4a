//! Customers: who subscribes, with an address that only their renewals' reminders use.

use std::collections::BTreeMap;

use till_core::email::parse_email;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::money::Units;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::customers::CustomerRow;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;
use till_store::{Metadata, Queries, ReadSource, Tx};

use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::base::{Context, Engine};
use crate::invoices::create::{Billed, create_billed};
use crate::invoices::quote::NewInvoice;
use crate::offers;
use crate::view::{CustomerView, TokenAmount, tokens};

/// A request for a customer, its shape read but its values unjudged.
#[derive(Clone, Debug, Default)]
pub struct NewCustomer {
    pub name: Option<String>,
    pub email: Option<String>,
    pub metadata: BTreeMap<String, String>,
}

pub async fn create(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewCustomer,
) -> Result<CustomerView, Fail> {
    let engine = context.engine;
    let id = engine.ids.make(IdKind::Customer);
    let email = match &request.email {
        None => None,
        Some(text) => {
            Some(parse_email(text).ok_or_else(|| Refusal::of(Code::EmailInvalid).param("email"))?)
        }
    };
    let purpose = purpose(&context.scope, &id);
    let seal = |email: &String| engine.vault.seal(&engine.ids, &purpose, email.as_bytes());
    let row = CustomerRow {
        scope: context.scope.clone(),
        id: id.clone(),
        name: request.name.clone(),
        email: email.as_ref().map(seal).transpose()?,
        metadata: Metadata::new(&request.metadata),
        created_at: context.now,
        moves_shared: 0,
        moves_pending: None,
    };
    till_store::customers::insert(tx, &row).await?;
    Ok(CustomerView::of(&row, email)?)
}

async fn find(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<CustomerRow, Fail> {
    if !till_core::id::is(IdKind::Customer, id) {
        return Err(missing("customer", id).into());
    }
    if let Some(row) = till_store::customers::find(q, scope, id).await? {
        return Ok(row);
    }
    let other = till_store::customers::find(q, &scope.in_other_mode(), id).await?;
    Err(missing_or_in_mode("customer", id, scope, other).into())
}

fn render(engine: &Engine, row: &CustomerRow) -> Result<CustomerView, Fail> {
    Ok(CustomerView::of(row, email_of(engine, row)?)?)
}

pub async fn list(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    page: &Page,
) -> Result<Paged<CustomerView>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::customers::list(&mut reader, scope, &page.and_one()).await?;
    page.cut(rows, |row| &row.id)
        .try_map(|row| Ok(CustomerView::of(&row, email_if_readable(engine, &row))?))
}

/// The customer as its own page shows it, with what is left of its prepaid credit.
pub async fn retrieve(engine: &Engine, scope: &Scope, id: &str) -> Result<CustomerView, Fail> {
    let mut reader = engine.db.read().await?;
    let row = find(&mut reader, scope, id).await?;
    let payments = till_store::payments::of_top_ups(&mut reader, scope, id).await?;
    Ok(CustomerView {
        credit: Some(credit_of(&payments)),
        ..render(engine, &row)?
    })
}

/// What is left, by token, in the order in which they came.
fn credit_of(payments: &[PaymentRow]) -> Vec<TokenAmount> {
    let mut sums: Vec<(String, Units)> = Vec::new();
    for payment in payments {
        let left = payment.position.prepaid_credit;
        match sums.iter_mut().find(|(asset, _)| *asset == payment.asset) {
            Some((_, sum)) => *sum = sum.plus(left),
            None => sums.push((payment.asset.clone(), left)),
        }
    }
    let left = sums.iter().filter(|(_, units)| !units.is_zero());
    left.map(tokens).collect()
}

const NOT_CREDIT: &str =
    "Prepaid credit cannot be in an asset whose price moves: no renewal could be paid with it";

/// An ordinary invoice; what pays it becomes the customer's credit once it is final.
pub async fn top_up(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    request: &NewInvoice,
) -> Result<InvoiceRow, Fail> {
    let customer = find(tx, &context.scope, id).await?;
    let billed = Billed {
        customer: &customer.id,
        subscription: None,
        expires_at: None,
        takes_until: None,
        credit: None,
    };
    let steady = NewInvoice {
        assets: offers::steady(context, request.assets.as_deref(), NOT_CREDIT)?,
        ..request.clone()
    };
    create_billed(tx, context, &steady, billed).await
}

/// For lists: one address that no key opens hides none of the other customers.
fn email_if_readable(engine: &Engine, row: &CustomerRow) -> Option<String> {
    let read = email_of(engine, row);
    if let Err(fail) = &read {
        tracing::error!(account = %row.scope.account, customer = %row.id, ?fail, "a customer's e-mail address cannot be decrypted, so the list shows none; check that secrets.key_file has the key it was encrypted with");
    }
    read.ok().flatten()
}

/// The address in the clear.
pub fn email_of(engine: &Engine, row: &CustomerRow) -> Result<Option<String>, Fail> {
    let Some(sealed) = &row.email else {
        return Ok(None);
    };
    let opened = engine.vault.open(&purpose(&row.scope, &row.id), sealed);
    let text = String::from_utf8(opened.map_err(Fail::broken)?);
    text.map(Some).map_err(Fail::broken)
}

/// Bound to the customer: a ciphertext cannot be moved to another.
pub(crate) fn purpose(scope: &Scope, id: &str) -> String {
    format!(
        "customer_email/{}/{}/{id}",
        scope.account,
        scope.mode.as_str()
    )
}
