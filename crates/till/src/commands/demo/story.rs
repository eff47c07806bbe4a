//! A month of a small shop: invoices in every status, links, refunds and subscriptions. All of it is made by the calls
//! that the API makes, on a clock that begins in the past.

use std::collections::BTreeMap;

use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::calendar::Unit;
use till_core::link::AmountType;
use till_core::refund::RefundReason;
use till_core::scope::{Credential, Scope};
use till_core::time::{DAY_MS, HOUR_MS, MINUTE_MS};
use till_engine::base::{Change, Fail};
use till_engine::customers::{self, NewCustomer};
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::Gatherer;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::invoices::{self, Decision, Resolve, Via};
use till_engine::links::{self, LinkChange};
use till_engine::merchants::settings::{self, SettingsChange};
use till_engine::once::Once;
use till_engine::refunds::{self, ClaimRequest, NewRefund, PayoutSeen};
use till_engine::subscriptions::plans::{self, NewPlan};
use till_engine::subscriptions::{self, NewSubscription};
use till_engine::test_mode::{self, Simulation};
use till_engine::workers::timers;
use till_engine::{Engine, checkout};

use super::clock::PastClock;
use crate::failure::Failure;

const DAYS: i64 = 30;
/// Sales of the days of a week.
const SALES: [i64; 7] = [9, 12, 10, 13, 11, 5, 4];
const PRICES_CENTS: [u64; 8] = [4_800, 2_250, 12_900, 1_800, 6_400, 3_190, 7_500, 9_900];
const LARGE_CENTS: u64 = 115_000;
const GOODS: [&str; 8] = [
    "two books",
    "paperback",
    "atlas",
    "notebook",
    "gift set",
    "two paperbacks",
    "gift card",
    "school set",
];
const ASSETS: [&str; 3] = [
    "USDC@eip155:84532",
    "USDT@tron:3448148188",
    "USDC@eip155:11155111",
];
const FIRST_ORDER: u64 = 10_100;
/// Somebody's wallet, to which refunds go.
const PAYOUT: ClaimAddress = ClaimAddress {
    network: "eip155:84532",
    address: "0xde709f2102306220921060314715629080e2fb77",
};

struct ClaimAddress {
    network: &'static str,
    address: &'static str,
}

/// What becomes of a sale.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Paid,
    Forgotten,
    Cancelled,
    Overpaid,
    PaidInPart,
    PaidLate,
    Held,
}

fn ending(order: u64) -> Ending {
    match order % 23 {
        0 => Ending::Cancelled,
        1 | 12 => Ending::Forgotten,
        4 => Ending::Overpaid,
        7 => Ending::PaidInPart,
        9 => Ending::PaidLate,
        15 => Ending::Held,
        _ => Ending::Paid,
    }
}

pub struct Story<'s> {
    pub engine: &'s Engine,
    pub gatherer: &'s Gatherer,
    pub clock: &'s PastClock,
    pub scope: &'s Scope,
}

/// What goes on from day to day.
struct Shop {
    order: u64,
    refunds: u64,
    link: String,
    subscriptions: Vec<Subscribed>,
    /// Invoices and the rest that is paid after their deadline.
    late: Vec<(String, u64)>,
}

struct Subscribed {
    id: String,
    /// The last of its invoices that was paid.
    paid: Option<String>,
    pays: bool,
}

fn text_of(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// One of a list, over and over.
fn turn<T: Copy>(list: &[T], at: u64) -> Option<T> {
    let length = u64::try_from(list.len())
        .ok()
        .filter(|length| *length > 0)?;
    list.get(usize::try_from(at % length).ok()?).copied()
}

impl Story<'_> {
    pub async fn tell(&self) -> Result<(), Failure> {
        self.clock.stand_back((DAYS + 1) * DAY_MS);
        let mut shop = self.open().await?;
        for back in (0..=DAYS).rev() {
            self.day(&mut shop, back).await?;
        }
        self.clock.stand_back(2 * MINUTE_MS);
        self.still_open(&mut shop).await?;
        self.clock.stand_back(0);
        self.catch_up().await
    }

    async fn day(&self, shop: &mut Shop, back: i64) -> Result<(), Failure> {
        let sales = usize::try_from(back % 7)
            .ok()
            .and_then(|at| SALES.get(at))
            .copied()
            .unwrap_or(1);
        for sale in 0..sales {
            // Over twelve hours; those of today ended an hour and a half ago.
            let ago = 12 * HOUR_MS * (sales - sale) / sales;
            self.clock.stand_back(back * DAY_MS + ago + 90 * MINUTE_MS);
            self.sell(shop, back == 0).await?;
        }
        self.clock.stand_back(back * DAY_MS + 80 * MINUTE_MS);
        for (invoice, cents) in std::mem::take(&mut shop.late) {
            self.catch_up().await?;
            self.pay(&invoice, turn(&ASSETS, 0), Some(cents), None)
                .await?;
        }
        self.catch_up().await?;
        self.renew(shop).await
    }

    /// Settings, links, and customers who subscribe.
    async fn open(&self) -> Result<Shop, Failure> {
        let change = &SettingsChange {
            manual_review_amount: Change::Set("1000.00".to_owned()),
            ..SettingsChange::default()
        };
        self.engine
            .unit(self.scope, |tx, context| {
                async move { settings::update(tx, context, change).await.map(drop) }.scope_boxed()
            })
            .await?;
        let link = self
            .link("25.00", "Reading evening, one seat", true)
            .await?;
        self.link("60.00", "Atlas, signed by hand", true).await?;
        self.link("9.50", "Calendar of last year", false).await?;
        let subscriptions = self.subscribers().await?;
        Ok(Shop {
            order: FIRST_ORDER,
            refunds: 0,
            link,
            subscriptions,
            late: Vec::new(),
        })
    }

    async fn link(&self, amount: &str, description: &str, active: bool) -> Result<String, Failure> {
        let change = &LinkChange {
            amount_type: Change::Set(AmountType::Fixed),
            currency: Change::Set("USD".to_owned()),
            amount: Change::Set(amount.to_owned()),
            description: Change::Set(description.to_owned()),
            active: Change::Set(active),
            ..LinkChange::default()
        };
        let made = self.engine.unit(self.scope, |tx, context| {
            async move { links::create(tx, context, change).await }.scope_boxed()
        });
        Ok(made.await?.slug)
    }

    async fn subscribers(&self) -> Result<Vec<Subscribed>, Failure> {
        let monthly = self.plan("Readers’ club", "12.00", Unit::Month).await?;
        let weekly = self.plan("Newspaper", "5.00", Unit::Week).await?;
        let mut subscribed = Vec::new();
        for (name, plan, pays) in [
            ("Ada Moreau", &weekly, true),
            ("Jonas Lind", &monthly, true),
            ("Mina Okafor", &weekly, true),
            ("Theo Brandt", &weekly, false),
        ] {
            let new = &NewCustomer {
                name: Some(name.to_owned()),
                ..NewCustomer::default()
            };
            let customer = self.engine.unit(self.scope, |tx, context| {
                async move { customers::create(tx, context, new).await }.scope_boxed()
            });
            let new = &NewSubscription {
                customer: customer.await?.id,
                plan: plan.clone(),
                trial_days: None,
                metadata: BTreeMap::new(),
            };
            let made = self.engine.unit(self.scope, |tx, context| {
                async move { subscriptions::create(tx, context, new).await }.scope_boxed()
            });
            let view = made.await?;
            // Whoever stops paying did pay once.
            if let Some(invoice) = &view.latest_invoice {
                self.pay(invoice, turn(&ASSETS, 0), None, None).await?;
            }
            subscribed.push(Subscribed {
                id: view.id,
                paid: view.latest_invoice,
                pays,
            });
        }
        Ok(subscribed)
    }

    async fn plan(&self, name: &str, amount: &str, interval: Unit) -> Result<String, Failure> {
        let new = &NewPlan {
            name: name.to_owned(),
            amount: amount.to_owned(),
            currency: "USD".to_owned(),
            interval,
            interval_count: 1,
            trial_days: 0,
            grace_days: 3,
            max_attempts: 4,
            assets: None,
            billing_timezone: None,
        };
        let made = self.engine.unit(self.scope, |tx, context| {
            async move { plans::create(tx, context, new).await }.scope_boxed()
        });
        Ok(made.await?.id)
    }

    async fn renew(&self, shop: &mut Shop) -> Result<(), Failure> {
        for one in shop.subscriptions.iter_mut().filter(|one| one.pays) {
            let view = subscriptions::retrieve(self.engine, self.scope, &one.id).await?;
            if let Some(invoice) = view
                .latest_invoice
                .filter(|new| one.paid.as_ref() != Some(new))
            {
                self.pay(&invoice, turn(&ASSETS, 0), None, None).await?;
                one.paid = Some(invoice);
            }
        }
        Ok(())
    }

    async fn sell(&self, shop: &mut Shop, is_today: bool) -> Result<(), Failure> {
        shop.order += 1;
        let order = shop.order;
        if order.is_multiple_of(19) {
            return self.sell_by_link(shop).await;
        }
        let ending = ending(order);
        let cents = match ending {
            Ending::Held => LARGE_CENTS,
            _ => turn(&PRICES_CENTS, order).unwrap_or(LARGE_CENTS),
        };
        let invoice = self.ask(order, cents).await?;
        let asset = turn(&ASSETS, order / 3);
        match ending {
            Ending::Forgotten => {}
            Ending::Cancelled => self.cancel(&invoice).await?,
            Ending::Paid => self.pay(&invoice, asset, None, None).await?,
            Ending::Overpaid => {
                let asset = turn(&ASSETS, 0);
                self.pay(&invoice, asset, Some(cents + 300), None).await?;
                self.give_back(shop, &invoice).await?;
            }
            Ending::PaidInPart => self.pay(&invoice, asset, Some(cents / 2), None).await?,
            Ending::PaidLate => {
                let first = cents / 3;
                self.pay(&invoice, turn(&ASSETS, 0), Some(first), None)
                    .await?;
                shop.late.push((invoice, cents - first));
            }
            Ending::Held => {
                self.pay(&invoice, asset, None, None).await?;
                if !is_today {
                    self.decide(&invoice, order.is_multiple_of(2)).await?;
                }
            }
        }
        Ok(())
    }

    /// What is under way right now: waiting, seen, confirming, held.
    async fn still_open(&self, shop: &mut Shop) -> Result<(), Failure> {
        for (cents, steps) in [
            (LARGE_CENTS, Some(&["included", "final"][..])),
            (2_250, None),
            (12_900, Some(&["included", "safe"][..])),
            (4_800, Some(&["included"][..])),
            (6_400, None),
        ] {
            shop.order += 1;
            let invoice = self.ask(shop.order, cents).await?;
            if let Some(steps) = steps {
                self.pay(&invoice, turn(&ASSETS, 0), None, Some(steps))
                    .await?;
            }
        }
        Ok(())
    }

    async fn ask(&self, order: u64, cents: u64) -> Result<String, Failure> {
        let goods = turn(&GOODS, order).unwrap_or_default();
        let request = CreateInvoice {
            scope: self.scope.clone(),
            once: Once::new(
                Actor::System,
                Credential::Merchant,
                format!("till-demo-{order}"),
                "POST",
                "/v1/invoices",
                b"",
            ),
            request: NewInvoice {
                amount: text_of(cents),
                currency: "USD".to_owned(),
                description: Some(format!("Order {order}, {goods}")),
                customer_ref: Some(format!("reader-{}", 2_000 + order * 7 % 90)),
                metadata: BTreeMap::from([("order".to_owned(), order.to_string())]),
                ..NewInvoice::default()
            },
            wanted: PendingRequest::default(),
        };
        let answer = self.gatherer.create(request).await?;
        let invoice: serde_json::Value = serde_json::from_slice(&answer.body)
            .map_err(|error| Failure::new(format!("an invoice of the demo: {error}")))?;
        let id = invoice["id"].as_str().map(str::to_owned);
        id.ok_or_else(|| Failure::new("an invoice of the demo has no id"))
    }

    /// All that is due, unless an amount is given, and all the way to final, unless steps are.
    async fn pay(
        &self,
        invoice: &str,
        asset: Option<&str>,
        cents: Option<u64>,
        steps: Option<&[&str]>,
    ) -> Result<(), Failure> {
        let simulation = &Simulation {
            asset: asset.map(str::to_owned),
            amount: cents.map(text_of),
            finality_steps: steps.map(|steps| steps.iter().map(|&step| step.to_owned()).collect()),
            ..Simulation::default()
        };
        let paid = self.engine.unit(self.scope, |tx, context| {
            async move {
                let paid = test_mode::simulate_payment(tx, context, invoice, simulation).await;
                paid.map(drop)
            }
            .scope_boxed()
        });
        Ok(paid.await?)
    }

    async fn cancel(&self, invoice: &str) -> Result<(), Failure> {
        let cancelled = self.engine.unit(self.scope, |tx, context| {
            async move { invoices::cancel(tx, context, invoice).await.map(drop) }.scope_boxed()
        });
        Ok(cancelled.await?)
    }

    async fn decide(&self, invoice: &str, accepts: bool) -> Result<(), Failure> {
        let held = invoices::held_payments(self.engine, self.scope, invoice).await?;
        let asked = &Resolve {
            decision: if accepts {
                Decision::Accept
            } else {
                Decision::Reject
            },
            reason: if accepts {
                "A school that orders every year"
            } else {
                "Nobody ordered this"
            },
            via: Via::Dashboard,
            payments: &held,
        };
        let decided = self.engine.unit(self.scope, |tx, context| {
            async move {
                let decided = invoices::resolve_review(tx, context, invoice, asked).await;
                decided.map(drop)
            }
            .scope_boxed()
        });
        Ok(decided.await?)
    }

    async fn sell_by_link(&self, shop: &Shop) -> Result<(), Failure> {
        let (slug, asset) = (&*shop.link, turn(&ASSETS, shop.order).unwrap_or_default());
        let sold = self.engine.unit(self.scope, |tx, context| {
            async move {
                let row = links::create_invoice(tx, context, slug, None, None).await?;
                checkout::pick_option(tx, context, &row.id, asset).await?;
                Ok::<String, Fail>(row.id)
            }
            .scope_boxed()
        });
        let invoice = sold.await?;
        self.pay(&invoice, Some(asset), None, None).await
    }

    /// A refund of what was too much: each of four is left at another step.
    async fn give_back(&self, shop: &mut Shop, invoice: &str) -> Result<(), Failure> {
        shop.refunds += 1;
        let new = &NewRefund {
            reason: Some(RefundReason::Overpaid),
            ..NewRefund::default()
        };
        let made = self.engine.unit(self.scope, |tx, context| {
            async move { refunds::create(tx, context, invoice, new).await }.scope_boxed()
        });
        let refund = made.await?;
        let id = &*refund.id;
        let step = shop.refunds % 4;
        if step == 3 {
            let cancelled = self.engine.unit(self.scope, |tx, context| {
                async move { refunds::cancel(tx, context, id).await.map(drop) }.scope_boxed()
            });
            return Ok(cancelled.await?);
        }
        let Some(token) = refund.claim_token.filter(|_| step != 2) else {
            return Ok(());
        };
        self.claim(&token).await?;
        if step == 1 {
            return Ok(());
        }
        let hash = &*format!("0x{:064x}", shop.refunds);
        let sent = self.engine.unit(self.scope, |tx, context| {
            async move {
                let sent = refunds::mark_sent(tx, context, id, hash, PayoutSeen::NotShown).await;
                sent.map(drop)
            }
            .scope_boxed()
        });
        Ok(sent.await?)
    }

    async fn claim(&self, token: &str) -> Result<(), Failure> {
        let claim = &refunds::find_claim(self.engine, token).await?;
        let request = &ClaimRequest {
            network: PAYOUT.network.to_owned(),
            address: PAYOUT.address.to_owned(),
        };
        let answers = &refunds::ask(self.engine, claim, request).await?;
        let claimed = self.engine.unit(self.scope, |tx, context| {
            async move {
                let claimed = refunds::claim(tx, context, claim, request, answers).await;
                claimed.map(drop)
            }
            .scope_boxed()
        });
        Ok(claimed.await?)
    }

    /// Everything that fell due by the time the clock shows.
    async fn catch_up(&self) -> Result<(), Failure> {
        while timers::run_due(self.engine).await? > 0 {}
        Ok(())
    }
}
