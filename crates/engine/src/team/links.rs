//! Links to sign in with. Their tokens stand in the fragment, which no server and no log sees.

use till_store::Tx;
use till_store::sign_in_links::SignInLinkRow;
use till_store::users::UserRow;

use super::emails::{self, Email};
use super::tokens::Token;
use crate::base::Engine;
use crate::base::fail::Fail;

const CLI_LIFE_MS: i64 = 60 * 60_000;

/// A link that was made, in the clear: shown once.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub link: String,
    pub expires_at: i64,
}

/// A link from the command line, for any browser. A newer one ends the older.
pub async fn create_cli_link(
    tx: &mut Tx,
    engine: &Engine,
    user: &UserRow,
) -> Result<NewLink, Fail> {
    let (now, token) = (engine.clock.now_ms(), Token::new(engine));
    let email = Email::parse(&emails::open(engine, &user.id, &user.email)?)?;
    till_store::sign_in_links::end_older(tx, "cli", &email.tags(engine), now).await?;
    let row = SignInLinkRow {
        token_hash: token.hash().into(),
        kind: "cli".to_owned(),
        user_id: Some(user.id.clone()),
        email: None,
        email_tag: email.tag(engine),
        browser_hash: None,
        created_at: now,
        expires_at: now + CLI_LIFE_MS,
        ended_at: None,
    };
    till_store::sign_in_links::insert(tx, &row).await?;
    Ok(NewLink {
        link: format!("{}/link#sign_in={}", engine.config.dashboard.url, token.0),
        expires_at: row.expires_at,
    })
}
