//! `till trigger`: makes an event happen in test mode by the calls that cause it, and shows it.

use clap::Args;
use serde_json::{Value, json};
use till_core::asset::Family;
use till_core::event::EventType;
use till_core::invoice::Status;

use crate::api_client::{ApiArgs, ApiClient};
use crate::failure::Failure;
use crate::output;

const DAY_S: i64 = 86_400;
/// What invoices are for here.
const PRICE: &str = "25.00";
const LESS: &str = "10";
const MORE: &str = "30";

#[derive(Debug, Args)]
pub struct Trigger {
    /// The event's type, such as invoice.paid
    #[arg(value_name = "EVENT", value_parser = event_type)]
    event: EventType,
    /// Move the account's test clock where the event takes time
    #[arg(long)]
    advance_clock: bool,
    #[command(flatten)]
    api: ApiArgs,
}

fn event_type(text: &str) -> Result<EventType, String> {
    let event = EventType::parse(text).filter(|event| event.is_webhook());
    event.ok_or_else(|| {
        let known = EventType::WEBHOOKS.map(EventType::as_str).join(", ");
        format!("there are {known}")
    })
}

pub async fn run(trigger: &Trigger) -> Result<(), Failure> {
    let api = ApiClient::of_test_mode(&trigger.api)?;
    if takes_time(trigger.event) && !trigger.advance_clock {
        return Err(Failure::Usage(format!(
            "{} happens when time passes: --advance-clock moves the test clock of the whole account, \
             whose open test invoices may expire, and it never moves back",
            trigger.event.as_str()
        )));
    }
    let event_type = trigger.event.as_str();
    let newest = newest(&api, event_type).await?;
    cause(&Shop { api: &api }, trigger.event).await?;
    let Some(event) = self::newest(&api, event_type)
        .await?
        .filter(|event| newest.is_none_or(|before| before["id"] != event["id"]))
    else {
        return Err(Failure::new(format!("{event_type} did not happen")));
    };
    let field = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (id, subject) = (field(&event["id"]), field(&event["data"]["object"]["id"]));
    output::print(&format!("{event_type}  {id}  {subject}\n"))
}

async fn newest(api: &ApiClient, event_type: &str) -> Result<Option<Value>, Failure> {
    let query = [("type", event_type), ("limit", "1")];
    let mut found = api.get("/v1/events", &query).await?;
    Ok(found["data"]
        .get_mut(0)
        .map(Value::take)
        .filter(Value::is_object))
}

fn takes_time(event: EventType) -> bool {
    matches!(
        event,
        EventType::InvoiceStatus(Status::Expired | Status::PaidLate)
            | EventType::SubscriptionPastDue
    )
}

/// The calls after which the event has happened.
async fn cause(shop: &Shop<'_>, event: EventType) -> Result<(), Failure> {
    match event {
        EventType::InvoiceCreated => shop.invoice().await.map(drop),
        EventType::InvoiceStatus(status) => invoice_status(shop, status).await,
        EventType::InvoicePaymentReversed => shop.reversed().await,
        EventType::InvoiceWrongAsset => Err(Failure::new(
            "no call of test mode sends a token that an invoice did not ask for, \
             so invoice.wrong_asset cannot be made to happen",
        )),
        EventType::InvoiceLatePayment => {
            let invoice = shop.cancelled().await?;
            shop.pay(&invoice, json!({})).await
        }
        EventType::InvoiceReviewResolved => {
            let invoice = shop.under_review().await?;
            let path = format!("/v1/invoices/{}/resolve_review", id(&invoice));
            let decision = json!({ "decision": "accept", "reason": "till trigger" });
            shop.post(&path, decision).await.map(drop)
        }
        EventType::RefundClaimed => shop.claimed_refund().await,
        EventType::PaymentLinkCreated => shop.link().await.map(drop),
        EventType::PaymentLinkUpdated => shop.change_link(json!({ "description": "Tea" })).await,
        EventType::PaymentLinkDeactivated => shop.change_link(json!({ "active": false })).await,
        EventType::SubscriptionCreated | EventType::SubscriptionInvoiceCreated => {
            shop.subscription(json!({})).await.map(drop)
        }
        EventType::SubscriptionRenewed => {
            let subscription = shop.subscription(json!({})).await?;
            let invoice = json!({ "id": subscription["latest_invoice"] });
            shop.pay(&invoice, json!({})).await
        }
        EventType::SubscriptionPastDue => {
            let terms = json!({ "trial_days": 1, "grace_days": 1 });
            shop.subscription(terms).await?;
            shop.advance(2 * DAY_S + 60).await
        }
        EventType::SubscriptionPaused => shop.paused().await.map(drop),
        EventType::SubscriptionResumed => {
            let subscription = shop.paused().await?;
            shop.act(&subscription, "resume", json!({})).await
        }
        EventType::SubscriptionUpdated => shop.cancel_subscription(true).await,
        EventType::SubscriptionCancelled => shop.cancel_subscription(false).await,
    }
}

async fn invoice_status(shop: &Shop<'_>, status: Status) -> Result<(), Failure> {
    let amount = match status {
        Status::Cancelled => return shop.cancelled().await.map(drop),
        Status::UnderReview => return shop.under_review().await.map(drop),
        // A payment that is undone leaves the invoice as it was.
        Status::AwaitingPayment => return shop.reversed().await,
        Status::Expired => {
            shop.invoice().await?;
            return shop.advance(DAY_S).await;
        }
        Status::PaidLate => {
            let invoice = shop.invoice().await?;
            shop.pay(&invoice, json!({ "amount": LESS })).await?;
            shop.advance_to(&invoice["expires_at"]).await?;
            shop.advance(1).await?;
            // The first payment has left this much.
            return shop.pay(&invoice, json!({ "amount": "15" })).await;
        }
        Status::Detected | Status::Confirming | Status::Paid => json!({}),
        Status::PartiallyPaid => json!({ "amount": LESS }),
        Status::Overpaid => json!({ "amount": MORE }),
    };
    let invoice = shop.invoice().await?;
    shop.pay(&invoice, amount).await
}

/// The calls that a merchant's server, its payers and the test helpers make.
struct Shop<'a> {
    api: &'a ApiClient,
}

impl Shop<'_> {
    async fn post(&self, path: &str, body: Value) -> Result<Value, Failure> {
        Ok(self.api.post(path, &body).await?)
    }

    async fn invoice(&self) -> Result<Value, Failure> {
        let body = json!({ "amount": PRICE, "currency": "USD", "description": "till trigger" });
        self.post("/v1/invoices", body).await
    }

    async fn pay(&self, invoice: &Value, payment: Value) -> Result<(), Failure> {
        let path = format!("/v1/test_helpers/invoices/{}/simulate_payment", id(invoice));
        self.post(&path, payment).await.map(drop)
    }

    async fn cancelled(&self) -> Result<Value, Failure> {
        let invoice = self.invoice().await?;
        let path = format!("/v1/invoices/{}/cancel", id(&invoice));
        self.post(&path, json!({})).await
    }

    /// Paid by somebody who is on the documented sanctions list.
    async fn under_review(&self) -> Result<Value, Failure> {
        let invoice = self.invoice().await?;
        let network = invoice["payment_options"][0]["network"].as_str();
        let family = family(network.unwrap_or_default())?;
        let listed = till_chains::test_screening().iter();
        let mut sanctioned = listed.filter(|(of, list, _)| *of == family && *list == "sanctions");
        let sender = sanctioned.next().map(|(_, _, address)| *address);
        self.pay(&invoice, json!({ "sender": sender })).await?;
        Ok(invoice)
    }

    async fn reversed(&self) -> Result<(), Failure> {
        let invoice = self.invoice().await?;
        self.pay(&invoice, json!({})).await?;
        let query = [("invoice", id(&invoice)), ("limit", "1")];
        let payments = self.api.get("/v1/payments", &query).await?;
        let payment = id(&payments["data"][0]);
        let path = format!("/v1/test_helpers/payments/{payment}/reverse");
        self.post(&path, json!({})).await.map(drop)
    }

    async fn claimed_refund(&self) -> Result<(), Failure> {
        let invoice = self.invoice().await?;
        self.pay(&invoice, json!({ "amount": MORE })).await?;
        let path = format!("/v1/invoices/{}/refunds", id(&invoice));
        let refund = self.post(&path, json!({})).await?;
        let asset = refund["asset"].as_str().unwrap_or_default();
        let network = asset.split_once('@').map_or("", |(_, network)| network);
        let token = refund["claim_token"].as_str().unwrap_or_default();
        let address = payer(family(network)?)?;
        let claim = json!({ "network": network, "address": address });
        self.post(&format!("/v1/refund_claims/{token}"), claim)
            .await
            .map(drop)
    }

    async fn link(&self) -> Result<Value, Failure> {
        let body = json!({
            "amount_type": "fixed", "amount": PRICE, "currency": "USD", "description": "till trigger",
        });
        self.post("/v1/payment_links", body).await
    }

    async fn change_link(&self, change: Value) -> Result<(), Failure> {
        let link = self.link().await?;
        let path = format!("/v1/payment_links/{}", id(&link));
        self.post(&path, change).await.map(drop)
    }

    async fn subscription(&self, terms: Value) -> Result<Value, Failure> {
        let mut plan = json!({
            "name": "till trigger", "amount": PRICE, "currency": "USD", "interval": "month",
        });
        if let (Some(plan), Value::Object(terms)) = (plan.as_object_mut(), terms) {
            plan.extend(terms);
        }
        let plan = self.post("/v1/plans", plan).await?;
        let customer = json!({ "name": "till trigger" });
        let customer = self.post("/v1/customers", customer).await?;
        let body = json!({ "customer": id(&customer), "plan": id(&plan) });
        self.post("/v1/subscriptions", body).await
    }

    async fn act(&self, subscription: &Value, what: &str, body: Value) -> Result<(), Failure> {
        let path = format!("/v1/subscriptions/{}/{what}", id(subscription));
        self.post(&path, body).await.map(drop)
    }

    /// One in its trial is active, and so may be paused or end with its period.
    async fn paused(&self) -> Result<Value, Failure> {
        let subscription = self.subscription(json!({ "trial_days": 30 })).await?;
        self.act(&subscription, "pause", json!({})).await?;
        Ok(subscription)
    }

    async fn cancel_subscription(&self, at_period_end: bool) -> Result<(), Failure> {
        let subscription = self.subscription(json!({ "trial_days": 30 })).await?;
        let body = json!({ "at_period_end": at_period_end });
        self.act(&subscription, "cancel", body).await
    }

    async fn advance(&self, seconds: i64) -> Result<(), Failure> {
        let body = json!({ "advance_seconds": seconds });
        self.post("/v1/test_helpers/clock", body).await.map(drop)
    }

    async fn advance_to(&self, time: &Value) -> Result<(), Failure> {
        let body = json!({ "advance_to": time });
        self.post("/v1/test_helpers/clock", body).await.map(drop)
    }
}

fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap_or_default()
}

/// An address that is neither the merchant's nor on a list: refunds are claimed to it.
fn payer(family: Family) -> Result<&'static str, Failure> {
    match family {
        Family::Evm => Ok("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        Family::Tron => Ok("TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"),
        Family::Bitcoin | Family::Solana => Err(Failure::new(
            "refunds are claimed here on EVM networks and TRON alone: give the account an asset of theirs",
        )),
    }
}

fn family(network: &str) -> Result<Family, Failure> {
    let namespace = network.split(':').next().unwrap_or_default();
    Family::from_namespace(namespace)
        .ok_or_else(|| Failure::new(format!("the network {network} is not known here")))
}
