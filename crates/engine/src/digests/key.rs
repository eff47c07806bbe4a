//! The key that signs digests: the installation's, encrypted by its key file. Public halves of earlier keys are kept.

use scoped_futures::ScopedFutureExt as _;
use till_core::digest::{self, SigningKey};
use till_store::Tx;
use till_store::ledger_keys::{self, LedgerKeyRow};
use zeroize::Zeroizing;

use crate::base::Engine;
use crate::base::fail::Fail;

pub(crate) fn purpose(id: &str) -> String {
    format!("ledger_key/{id}")
}

/// Makes the first key where there is none yet.
pub async fn ensure(engine: &Engine) -> Result<LedgerKeyRow, Fail> {
    let mut reader = engine.db.read().await?;
    if let Some(found) = ledger_keys::newest(&mut reader).await? {
        return Ok(found);
    }
    drop(reader);
    let new = &new(engine)?;
    let written = engine.db.write(|tx: &mut Tx| {
        async move {
            ledger_keys::insert_first(tx, new).await?;
            ledger_keys::newest(tx).await.map_err(Fail::from)
        }
        .scope_boxed()
    });
    let none = || Fail::broken("the key that signs digests is not there after it was made");
    written.await?.ok_or_else(none)
}

/// Makes another key that signs from now on. Nobody can sign with the one before any more; its public half stays.
pub async fn renew(engine: &Engine) -> Result<LedgerKeyRow, Fail> {
    let before = &ensure(engine).await?;
    let new = &new(engine)?;
    let written = engine.db.write(|tx: &mut Tx| {
        async move {
            let replaced = ledger_keys::replace(tx, &before.id, new).await?;
            replaced.then_some(()).ok_or(Fail::Again)
        }
        .scope_boxed()
    });
    written.await?;
    Ok(new.clone())
}

/// All there ever were, the newest last.
pub async fn all(engine: &Engine) -> Result<Vec<LedgerKeyRow>, Fail> {
    let mut reader = engine.db.read().await?;
    Ok(ledger_keys::all(&mut reader).await?)
}

/// What signs now, and its name.
pub(super) async fn current(engine: &Engine) -> Result<(SigningKey, String), Fail> {
    let row = ensure(engine).await?;
    let seed = engine.vault.open(&purpose(&row.id), &row.secret);
    let seed = Zeroizing::new(seed.map_err(|error| {
        Fail::broken(format!(
            "the key {} that signs digests cannot be used: {error}",
            row.id
        ))
    })?);
    let seed: &[u8; 32] = seed
        .as_slice()
        .try_into()
        .map_err(|_| Fail::broken("the key that signs digests has another length"))?;
    Ok((SigningKey::from_seed(seed), row.id))
}

fn new(engine: &Engine) -> Result<LedgerKeyRow, Fail> {
    let seed: Zeroizing<[u8; 32]> = Zeroizing::new(engine.ids.random());
    let public_key = SigningKey::from_seed(&seed).public_key();
    let id = digest::key_id(&public_key).ok_or_else(|| Fail::broken("a new key has no name"))?;
    let secret = engine
        .vault
        .seal(&engine.ids, &purpose(&id), seed.as_slice())?;
    Ok(LedgerKeyRow {
        id,
        public_key,
        secret,
        created_at: engine.clock.now_ms(),
    })
}
