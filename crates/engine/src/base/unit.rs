//! Units of work: all of it is committed, or nothing.

use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use till_core::actor::Actor;
use till_core::scope::Scope;
use till_store::Tx;

use super::asker::Asker;
use super::context::Context;
use super::engine::Engine;
use super::fail::Fail;
use super::wake::Effects;

impl Engine {
    /// What Till does by itself for one account and mode.
    pub async fn unit<'w, T, F>(&self, scope: &Scope, work: F) -> Result<T, Fail>
    where
        T: Send,
        F: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<T, Fail>>
            + Send
            + Sync,
    {
        self.unit_by(&Actor::System.into(), scope, work).await
    }

    /// Runs a unit of work for one account and mode, and tells workers and streams once it is committed. Where it rests
    /// on a member, it begins with what they are allowed then.
    pub async fn unit_by<'w, T, F>(&self, asker: &Asker, scope: &Scope, work: F) -> Result<T, Fail>
    where
        T: Send,
        F: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<T, Fail>>
            + Send
            + Sync,
    {
        let _permit = self.unit_limiter.take(scope).await?;
        let effects = Effects::default();
        let (effects_ref, work_ref) = (&effects, &work);
        let done = self
            .db
            .write(move |tx: &mut Tx| {
                async move {
                    effects_ref.clear();
                    let role = asker.admit(tx, scope).await?;
                    let mut context = Context::load(self, tx, scope, asker, effects_ref).await?;
                    context.role = role;
                    work_ref(tx, &context).await
                }
                .scope_boxed()
            })
            .await?;
        self.tell(&effects);
        Ok(done)
    }
}
