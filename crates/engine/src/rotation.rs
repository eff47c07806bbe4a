//! Encrypting anew what another key has encrypted, in small steps beside the work.

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Mode;
use till_core::scope::{Credential, Scope};
use till_store::sealed::{self, SealedColumn, SealedRow};
use till_store::{StoreError, Tx};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::team::{emails, link_mails, sessions, totp};
use crate::{customers, digests, mail, merchants, once, refunds};

/// So many rows are read together, and at most so many written in one unit of work.
const ROWS: i64 = 200;

/// Makes the given key the one that encrypts, here and, within two beats of their pulse, in every server that has it.
pub async fn encrypt_with(engine: &Engine, name: &str) -> Result<(), Fail> {
    let written = engine.db.write(|tx: &mut Tx| {
        async move { till_store::installation::set_key_name(tx, name).await }.scope_boxed()
    });
    written.await.map_err(Fail::from)?;
    follow(engine).await
}

/// Encrypts with the key that the database names. A server that does not have it cannot read what the others write.
pub async fn follow(engine: &Engine) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let Some(name) = till_store::installation::key_name(&mut reader).await? else {
        return Ok(());
    };
    let has_key = engine.vault.encrypt_with(&name);
    if !has_key {
        tracing::error!(key = %name, "the servers encrypt with a key that this one does not have; add its file to secrets.key_file");
    }
    engine.readiness.has_key(has_key);
    Ok(())
}

/// What came of looking through everything once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub rewritten: u64,
    /// Written with a key that is not here, or damaged. They stay as they are.
    pub unreadable: u64,
}

pub async fn pass(engine: &Engine) -> Result<Pass, Fail> {
    let mut pass = Pass::default();
    for column in SealedColumn::ALL {
        pass_through(engine, column, &mut pass).await?;
    }
    Ok(pass)
}

/// Encrypts everything anew. Servers that had not noticed yet go on with the old key for a while, whoever told them and
/// when: so it is looked through once more after `followed`, until nothing was left over.
pub async fn finish(engine: &Engine, followed: impl AsyncFn()) -> Result<Pass, Fail> {
    let mut rewritten = pass(engine).await?.rewritten;
    loop {
        followed().await;
        let last = pass(engine).await?;
        rewritten += last.rewritten;
        if last.rewritten == 0 {
            return Ok(Pass { rewritten, ..last });
        }
    }
}

/// How many values keys have encrypted that are not here: the column, the key's name, and how many.
pub async fn by_unknown_keys(engine: &Engine) -> Result<Vec<(SealedColumn, String, i64)>, Fail> {
    let mut reader = engine.db.read().await?;
    let mut unknown = Vec::new();
    for column in SealedColumn::ALL {
        for (name, count) in sealed::counts_by_key(&mut reader, column).await? {
            let name = hex::encode(name);
            if !engine.vault.has(&name) {
                unknown.push((column, name, count));
            }
        }
    }
    Ok(unknown)
}

async fn pass_through(engine: &Engine, column: SealedColumn, pass: &mut Pass) -> Result<(), Fail> {
    let mut last = None;
    loop {
        let mut reader = engine.db.read().await?;
        let rows = sealed::page(&mut reader, column, last.as_ref(), ROWS).await?;
        drop(reader);
        let Some(reached) = rows.last().cloned() else {
            return Ok(());
        };
        last = Some(reached);
        let is_old = |row: &&SealedRow| !engine.vault.is_newest(&row.sealed);
        let old: Vec<&SealedRow> = rows.iter().filter(is_old).collect();
        if !old.is_empty() {
            rewrite(engine, column, &old, pass).await?;
        }
    }
}

async fn rewrite(
    engine: &Engine,
    column: SealedColumn,
    rows: &[&SealedRow],
    pass: &mut Pass,
) -> Result<(), Fail> {
    let mut anew = Vec::with_capacity(rows.len());
    for row in rows {
        let purpose = purpose(column, row)?;
        let plain = match engine.vault.open(&purpose, &row.sealed) {
            Ok(plain) => plain,
            Err(error) => {
                tracing::warn!(?column, account = row.account, %error, "a secret could not be encrypted with the new key; keep the old key's file until it can be");
                pass.unreadable += 1;
                continue;
            }
        };
        let tag = match column {
            SealedColumn::NoticeEmails => Some(engine.vault.tag(&purpose, &plain).into()),
            SealedColumn::UserEmails | SealedColumn::InviteEmails => {
                Some(emails::tag_of(engine, &plain))
            }
            _ => None,
        };
        anew.push((*row, engine.vault.seal(&engine.ids, &purpose, &plain)?, tag));
    }
    let anew = &anew;
    let written = engine.db.write(|tx: &mut Tx| {
        async move {
            let mut count = 0;
            for (row, sealed, tag) in anew {
                let done = sealed::replace(tx, column, row, sealed.clone(), tag.clone()).await?;
                count += u64::from(done);
            }
            Ok::<u64, StoreError>(count)
        }
        .scope_boxed()
    });
    pass.rewritten += written.await?;
    Ok(())
}

/// As those who encrypted it said it.
fn purpose(column: SealedColumn, row: &SealedRow) -> Result<String, Fail> {
    if let Some(purpose) = unscoped_purpose(column, &row.subject) {
        return Ok(purpose);
    }
    let unreadable = |what: &str| Fail::broken(StoreError::Other(format!("{column:?}: {what}")));
    let scope = || {
        let mode = Mode::parse(&row.mode).ok_or_else(|| unreadable("a mode"))?;
        Ok::<_, Fail>(Scope::new(&row.account, mode))
    };
    Ok(match column {
        SealedColumn::WebhookSecrets | SealedColumn::ChangeSecrets => {
            merchants::secrets::purpose(&scope()?)
        }
        SealedColumn::NoticeEmails => mail::address::purpose(&scope()?, &row.subject),
        SealedColumn::CustomerEmails => customers::purpose(&scope()?, &row.subject),
        SealedColumn::ClaimTokens => refunds::token_purpose(&scope()?, &row.subject),
        SealedColumn::Answers => {
            let credential = Credential::parse(&row.credential);
            let credential = credential.ok_or_else(|| unreadable("a credential"))?;
            once::purpose(&scope()?, credential, &row.subject)
        }
        other => return Err(unreadable(other.table())),
    })
}

/// The same for what belongs to no account: of people who sign in, and of the installation.
fn unscoped_purpose(column: SealedColumn, id: &str) -> Option<String> {
    match column {
        SealedColumn::UserEmails | SealedColumn::InviteEmails | SealedColumn::ContactEmails => {
            Some(emails::purpose(id))
        }
        SealedColumn::TotpSeeds | SealedColumn::TotpOffers => Some(totp::purpose(id)),
        SealedColumn::CsrfTokens => Some(sessions::csrf_purpose(id)),
        SealedColumn::LinkMails => Some(link_mails::purpose(id)),
        SealedColumn::LedgerKeys => Some(digests::key::purpose(id)),
        _ => None,
    }
}
