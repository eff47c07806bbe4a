//! Users: one person, one address.

use till_core::id::IdKind;
use till_store::Tx;
use till_store::users::UserRow;

use super::emails::{self, Email};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::UserView;

/// Whoever has this address.
pub async fn by_email(
    engine: &Engine,
    q: &mut impl till_store::Queries,
    email: &Email,
) -> Result<Option<UserRow>, Fail> {
    Ok(till_store::users::by_email(q, &email.tags(engine)).await?)
}

/// The address of the user of this id, if there is one.
pub async fn email_of(
    engine: &Engine,
    q: &mut impl till_store::Queries,
    user: &str,
) -> Result<Option<String>, Fail> {
    let found = till_store::users::find(q, user).await?;
    let open = |user: &UserRow| emails::open(engine, &user.id, &user.email);
    found.as_ref().map(open).transpose()
}

/// Makes a user of an address that nobody has.
pub async fn create(tx: &mut Tx, engine: &Engine, email: &Email) -> Result<UserRow, Fail> {
    let id = engine.ids.make(IdKind::User);
    let user = UserRow {
        email: email.seal(engine, &id)?,
        email_tag: email.tag(engine),
        email_verified: false,
        name: None,
        locale: None,
        is_operator: false,
        totp_seed: None,
        totp_offer: None,
        totp_offer_until: None,
        totp_step: 0,
        created_at: engine.clock.now_ms(),
        id,
    };
    till_store::users::insert(tx, &user).await?;
    Ok(user)
}

pub fn view(engine: &Engine, user: &UserRow, passkeys: i64) -> Result<UserView, Fail> {
    Ok(UserView {
        id: user.id.clone(),
        object: "user",
        email: emails::open(engine, &user.id, &user.email)?,
        email_verified: user.email_verified,
        name: user.name.clone(),
        locale: user.locale.clone(),
        operator: user.is_operator,
        passkeys,
        totp_enabled: user.totp_seed.is_some(),
        created_at: till_core::time::show(user.created_at),
    })
}
