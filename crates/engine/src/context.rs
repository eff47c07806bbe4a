//! The engine and what every use case is given: whose it is, what time it is there, what the merchant set.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use till_core::asset::{Family, Mode};
use till_core::error::{Code, Refusal};
use till_core::payment::Level;
use till_core::scope::Scope;
use till_store::accounts::MerchantRow;
use till_store::{Db, Queries, StoreError, Tx};

use crate::clock::{Clock, Entropy, Ids};
use crate::fail::Fail;
use crate::mail::Mailer;
use crate::nodes::Nodes;
use crate::prices::Prices;
use crate::reserve::Reserve;
use crate::stream::Hub;
use crate::vault::Vault;
use crate::workers::Nudges;

/// What an operator can set about how the engine works.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    pub public_url: String,
    pub checkout_url: String,
    pub live_mode: bool,
    /// The demo server answers some calls of the test helper with codes of its own.
    pub demo: bool,
    pub allow_private_webhooks: bool,
    pub pool_max: i64,
    pub cooldown_ms: i64,
    pub bitcoin_gap_limit: i64,
    pub life_ms: i64,
    pub volatile_life_ms: i64,
    pub select_ms: i64,
    /// Networks credited below `final`, by CAIP-2 id.
    pub credit_at: BTreeMap<String, Level>,
}

pub struct Engine {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: Ids,
    pub config: EngineConfig,
    pub vault: Vault,
    pub prices: Prices,
    pub hub: Hub,
    pub reserve: Reserve,
    pub nudges: Nudges,
    /// None when this server sends no mail.
    pub mailer: Option<Mailer>,
    /// None when no network's endpoints are configured.
    pub nodes: Option<Nodes>,
}

impl Engine {
    pub fn new(
        db: Db,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        config: EngineConfig,
        vault: Vault,
        prices: Prices,
    ) -> Engine {
        let ids = Ids::new(Arc::clone(&clock), entropy);
        Engine {
            db,
            clock,
            ids,
            config,
            vault,
            prices,
            hub: Hub::default(),
            reserve: Reserve::default(),
            nudges: Nudges::default(),
            mailer: None,
            nodes: None,
        }
    }

    #[must_use]
    pub fn with_mailer(self, mailer: Option<Mailer>) -> Engine {
        Engine { mailer, ..self }
    }

    #[must_use]
    pub fn with_nodes(self, nodes: Option<Nodes>) -> Engine {
        Engine { nodes, ..self }
    }

    /// Runs a unit of work for one account and mode, and tells workers and streams once it is committed.
    pub async fn unit<'w, T, F>(&self, scope: &Scope, work: F) -> Result<T, Fail>
    where
        T: Send,
        F: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<T, Fail>>
            + Send
            + Sync,
    {
        let effects = Effects::default();
        let (effects_ref, work_ref) = (&effects, &work);
        let done = self
            .db
            .write(move |tx: &mut Tx| {
                async move {
                    effects_ref.clear();
                    let context = Context::load(self, tx, scope, effects_ref).await?;
                    work_ref(tx, &context).await
                }
                .scope_boxed()
            })
            .await?;
        self.tell(&effects);
        Ok(done)
    }

    pub fn tell(&self, effects: &Effects) {
        let effects = std::mem::take(&mut *effects.lock());
        for invoice in &effects.streams {
            self.hub.nudge(invoice);
        }
        for scope in effects.deliveries {
            self.nudges.webhooks(scope);
        }
        if effects.mail {
            self.nudges.mail();
        }
    }

    pub fn credit_at(&self, network: &str) -> Level {
        self.config
            .credit_at
            .get(network)
            .copied()
            .unwrap_or(Level::Final)
    }
}

/// What was committed that somebody may be waiting for.
#[derive(Debug, Default)]
pub struct Effects(Mutex<EffectsInner>);

#[derive(Debug, Default)]
pub struct EffectsInner {
    streams: Vec<String>,
    deliveries: Vec<Scope>,
    mail: bool,
}

impl Effects {
    fn lock(&self) -> std::sync::MutexGuard<'_, EffectsInner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A unit of work that is tried again starts without the first try's effects.
    pub fn clear(&self) {
        *self.lock() = EffectsInner::default();
    }

    pub fn stream(&self, invoice: &str) {
        self.lock().streams.push(invoice.to_owned());
    }

    pub fn mail(&self) {
        self.lock().mail = true;
    }

    pub fn delivery(&self, scope: &Scope) {
        let mut inner = self.lock();
        if inner.deliveries.last() != Some(scope) {
            inner.deliveries.push(scope.clone());
        }
    }
}

/// What the merchant set, read.
#[derive(Clone, Debug)]
pub struct Merchant {
    pub row: MerchantRow,
    pub default_assets: Option<Vec<String>>,
    /// By CAIP-2 namespace.
    pub destinations: BTreeMap<String, String>,
}

impl Merchant {
    pub fn read(row: MerchantRow) -> Result<Merchant, StoreError> {
        let corrupt = |column: &str, error: serde_json::Error| {
            StoreError::corrupt("merchants", column, &row.account, error)
        };
        let default_assets = match &row.default_assets {
            Some(text) => {
                Some(serde_json::from_str(text).map_err(|error| corrupt("default_assets", error))?)
            }
            None => None,
        };
        let destinations = serde_json::from_str(&row.destinations)
            .map_err(|error| corrupt("destinations", error))?;
        Ok(Merchant {
            row,
            default_assets,
            destinations,
        })
    }

    pub fn destination(&self, family: Family) -> Option<&str> {
        self.destinations
            .get(family.namespace())
            .map(String::as_str)
    }
}

pub struct Context<'e> {
    pub engine: &'e Engine,
    pub scope: Scope,
    /// Business time of this account and mode.
    pub now: i64,
    /// Real time: webhooks, signatures, idempotency keys.
    pub real_now: i64,
    pub merchant: Merchant,
    /// The networks, by CAIP-2 id, for which it is known whether this merchant can be paid there.
    pub receives: Mutex<BTreeMap<String, bool>>,
    pub effects: &'e Effects,
}

impl<'e> Context<'e> {
    pub async fn load(
        engine: &'e Engine,
        q: &mut impl Queries,
        scope: &Scope,
        effects: &'e Effects,
    ) -> Result<Context<'e>, Fail> {
        let row = till_store::accounts::merchant(q, scope)
            .await?
            .ok_or_else(not_configured)?;
        let merchant = Merchant::read(row)?;
        let real_now = engine.clock.now_ms();
        let now = real_now
            .saturating_add(merchant.row.clock_offset_ms)
            .min(till_core::time::LATEST_MS);
        Ok(Context {
            engine,
            scope: scope.clone(),
            now,
            real_now,
            merchant,
            receives: Mutex::default(),
            effects,
        })
    }

    /// The same context at another moment of business time, for what fell due in between.
    pub fn at(&self, now: i64) -> Context<'e> {
        Context {
            engine: self.engine,
            scope: self.scope.clone(),
            now,
            real_now: self.real_now,
            merchant: self.merchant.clone(),
            receives: Mutex::default(),
            effects: self.effects,
        }
    }

    pub fn is_live(&self) -> bool {
        self.scope.mode == Mode::Live
    }
}

pub fn not_configured() -> Refusal {
    Refusal::of(Code::ModeNotConfigured)
}

/// A finished answer: what is sent now and, under the same idempotency key, ever after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: Bytes,
    pub replayed: bool,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Bytes>) -> Answer {
        Answer {
            status,
            body: body.into(),
            replayed: false,
        }
    }

    pub fn json(status: u16, value: &impl serde::Serialize) -> Result<Answer, Fail> {
        Ok(Answer::new(
            status,
            serde_json::to_vec(value).map_err(Fail::broken)?,
        ))
    }
}
