//! What every use case is given: whose it is, what time it is there, what the merchant set.

use std::collections::BTreeMap;
use std::sync::Mutex;

use till_core::asset::Mode;
use till_core::scope::Scope;
use till_store::Queries;

use super::engine::Engine;
use super::fail::Fail;
use super::merchant::Merchant;
use super::wake::Effects;

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
        let merchant = Merchant::load(q, scope).await?;
        let real_now = engine.clock.now_ms();
        let now = merchant.now(real_now);
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
