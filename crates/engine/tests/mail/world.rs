//! An engine on a database of its own, with a clock that stands still and an account to work with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::error::Code;
use till_core::scope::{Credential, Scope};
use till_engine::base::prices::{FixedPrices, Prices};
use till_engine::base::vault::Vault;
use till_engine::checkout::{notify, session};
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::merchants::accounts::{Modes, create_account};
use till_engine::once::Once;
use till_engine::smtp::Mailer;
use till_engine::test_mode::{Simulation, reverse_payment, simulate_payment};
use till_engine::testing::{CountingEntropy, StillClock};
use till_engine::view::NoticeView;
use till_engine::{Engine, EngineConfig, EngineLimits, Fail};
use till_store::Db;
use till_store::notices::NoticeRow;

pub const NOW: i64 = 1_794_712_419_000;

pub struct World {
    pub engine: Engine,
    pub clock: Arc<StillClock>,
    pub scope: Scope,
    pub db: Db,
}

/// Nobody listens there: for tests in which nothing is sent.
pub fn mute() -> Mailer {
    Mailer::new("smtp://127.0.0.1:9", crate::smtp::FROM).unwrap()
}

impl World {
    pub async fn new(db: Db, mailer: Option<Mailer>) -> World {
        let clock = Arc::new(StillClock::at(NOW));
        let config = EngineConfig {
            public_url: "https://pay.example".into(),
            checkout_url: "https://pay.example".into(),
            shard: None,
            live_mode: false,
            demo: false,
            allow_private_webhooks: false,
            pool_max: 1_000,
            cooldown_ms: 86_400_000,
            unpaid_cooldown_ms: 86_400_000,
            require_wallet_proof: false,
            bitcoin_gap_limit: 20,
            life_ms: 3_600_000,
            volatile_life_ms: 900_000,
            volatile_rest_ms: 3_600_000,
            select_ms: 900_000,
            final_above: BTreeMap::new(),
            final_depths: BTreeMap::new(),
            attempt_ms: 3 * 86_400_000,
            watched: BTreeSet::new(),
            credit_at: BTreeMap::new(),
            limits: EngineLimits::default(),
            dashboard: till_engine::DashboardConfig::default(),
        };
        let engine = Engine::new(
            db.clone(),
            clock.clone(),
            Arc::new(CountingEntropy::default()),
            config,
            Vault::new(&[[7; 32]]).unwrap(),
            Prices::new(FixedPrices::default(), 60_000),
        )
        .with_mailer(mailer);
        let account = create_account(&engine, "Shop", Modes::TestOnly, &[])
            .await
            .unwrap();
        let scope = Scope::new(&account.id, Mode::Test);
        World {
            engine,
            clock,
            scope,
            db,
        }
    }

    pub async fn invoice(&self) -> String {
        let random: [u8; 8] = self.engine.ids.random();
        let request = CreateInvoice {
            scope: self.scope.clone(),
            once: Once::new(
                Actor::key("key_1"),
                Credential::Merchant,
                format!("key-{random:?}"),
                "POST",
                "/v1/invoices",
                b"{}",
            ),
            request: NewInvoice {
                amount: "25.00".into(),
                currency: "USD".into(),
                assets: Some(vec!["USDC@eip155:84532".into()]),
                description: Some("CANARY description".into()),
                customer_ref: Some("CANARY customer_ref".into()),
                return_url: None,
                metadata: BTreeMap::from([("key".into(), "CANARY metadata".into())]),
            },
            wanted: PendingRequest::default(),
        };
        let answer = create_all(&self.engine, &[request])
            .await
            .remove(0)
            .unwrap();
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        body["id"].as_str().unwrap().to_owned()
    }

    pub fn session(&self, invoice: &str) -> String {
        session::issue(&self.engine, &self.scope, invoice)
    }

    pub async fn leave(
        &self,
        invoice: &str,
        email: &str,
        locale: Option<&str>,
        token: &str,
    ) -> Result<NoticeView, Code> {
        let left = self
            .engine
            .unit(&self.scope, |tx, context| {
                notify::leave_address(tx, context, invoice, email, locale, token).scope_boxed()
            })
            .await;
        left.map_err(code)
    }

    /// Pays so much, or all of it.
    pub async fn pay(&self, invoice: &str, amount: Option<&str>) -> String {
        let simulation = Simulation {
            amount: amount.map(str::to_owned),
            ..Simulation::default()
        };
        let simulation = &simulation;
        let paid = self
            .engine
            .unit(&self.scope, |tx, context| {
                simulate_payment(tx, context, invoice, simulation).scope_boxed()
            })
            .await;
        paid.unwrap().status.as_str().to_owned()
    }

    pub async fn reverse(&self, payment: &str) {
        self.engine
            .unit(&self.scope, |tx, context| {
                reverse_payment(tx, context, payment).scope_boxed()
            })
            .await
            .unwrap();
    }

    pub async fn receipts(&self, invoice: &str) -> Vec<NoticeRow> {
        let mut reader = self.db.read().await.unwrap();
        till_store::notices::receipts(&mut reader, &self.scope, invoice)
            .await
            .unwrap()
    }

    pub async fn payments(&self, invoice: &str) -> Vec<till_store::payments::PaymentRow> {
        let mut reader = self.db.read().await.unwrap();
        till_store::payments::of_invoice(&mut reader, &self.scope, invoice)
            .await
            .unwrap()
    }
}

pub fn code(fail: Fail) -> Code {
    match fail {
        Fail::Refused(refusal) => refusal.code,
        fail => panic!("not a refusal: {fail:?}"),
    }
}
