//! What every use case is given: whose it is, who acts, what time it is there, what the merchant set.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::error::Refusal;
use till_core::role::{Permission, Role};
use till_core::scope::Scope;
use till_store::Queries;

use super::asker::Asker;
use super::engine::Engine;
use super::fail::Fail;
use super::merchant::Merchant;
use super::wake::Effects;

pub struct Context<'e> {
    pub engine: &'e Engine,
    pub scope: Scope,
    /// Who acts. Where one unit of work serves several callers at once it is the system.
    pub asker: Asker,
    /// The role of the member whom it rests on, as of this unit of work.
    pub role: Option<Role>,
    /// Business time of this account and mode.
    pub now: i64,
    /// Whether `now` was chosen: what fell due on a test clock happens at its own time.
    is_chosen: bool,
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
        asker: &Asker,
        effects: &'e Effects,
    ) -> Result<Context<'e>, Fail> {
        let merchant = Merchant::load(q, scope).await?;
        Ok(Context::of(engine, merchant, asker.clone(), effects))
    }

    /// Those of many accounts at once, for what the system does. An account that is not there has none.
    pub async fn load_many(
        engine: &'e Engine,
        q: &mut impl Queries,
        scopes: &[&Scope],
        effects: &'e Effects,
    ) -> Result<HashMap<Scope, Context<'e>>, Fail> {
        let rows = till_store::accounts::merchants(q, scopes).await?;
        let contexts = rows.into_iter().map(|row| {
            let context = Context::of(engine, Merchant { row }, Actor::System.into(), effects);
            (context.scope.clone(), context)
        });
        Ok(contexts.collect())
    }

    fn of(
        engine: &'e Engine,
        merchant: Merchant,
        asker: Asker,
        effects: &'e Effects,
    ) -> Context<'e> {
        let real_now = engine.clock.now_ms();
        Context {
            engine,
            scope: merchant.row.scope.clone(),
            asker,
            role: None,
            now: merchant.now(real_now),
            is_chosen: false,
            real_now,
            merchant,
            receives: Mutex::default(),
            effects,
        }
    }

    /// What time it is by now. `now` is when the unit of work began, and it may have waited for a lock since: while
    /// it did, others may have acted on later times.
    pub fn by_now(&self) -> i64 {
        match self.is_chosen {
            true => self.now,
            false => self.merchant.now(self.engine.clock.now_ms()).max(self.now),
        }
    }

    /// The same context at another moment of business time, for what fell due in between.
    pub fn at(&self, now: i64) -> Context<'e> {
        Context {
            engine: self.engine,
            scope: self.scope.clone(),
            asker: self.asker.clone(),
            role: self.role,
            now,
            is_chosen: true,
            real_now: self.real_now,
            merchant: self.merchant.clone(),
            receives: Mutex::default(),
            effects: self.effects,
        }
    }

    pub fn actor(&self) -> &Actor {
        &self.asker.actor
    }

    /// Refuses where the request rests on a member whose role lacks the permission, for what the body or the target
    /// decides.
    pub fn require(&self, permission: Permission) -> Result<(), Refusal> {
        match &self.asker.member {
            None => Ok(()),
            Some(member) => member.check(self.role, permission, self.scope.mode),
        }
    }

    pub fn is_live(&self) -> bool {
        self.scope.mode == Mode::Live
    }
}
