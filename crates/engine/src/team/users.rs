//! Users: one person, one address.

use till_core::id::IdKind;
use till_store::Tx;
use till_store::users::UserRow;

use super::emails::{self, Email};
use super::unit::TeamContext;
use crate::base::fail::Fail;
use crate::base::{Change, Engine};
use crate::view::UserView;

/// Somebody who is there: whose id a session or a membership has.
pub async fn find(q: &mut impl till_store::Queries, id: &str) -> Result<UserRow, Fail> {
    let user = till_store::users::find(q, id).await?;
    user.ok_or_else(|| Fail::broken("a user is missing"))
}

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

/// How it was shown that an address is its user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By a link that was mailed to it.
    Mail,
    /// By a link that the server's command line gave.
    Shell,
}

/// Writes down that the address was shown to be the user's. Sessions of a time when anybody might have been behind it
/// end, but for the one of this id.
pub async fn prove(
    tx: &mut Tx,
    engine: &Engine,
    user: &UserRow,
    proof: Proof,
    session: &str,
) -> Result<(), Fail> {
    if !user.is_proven() {
        let now = engine.clock.now_ms();
        till_store::sessions::end_all_but(tx, &user.id, session, now).await?;
    }
    match proof {
        Proof::Mail => till_store::users::set_verified(tx, &user.id).await?,
        Proof::Shell => till_store::users::set_shell_verified(tx, &user.id).await?,
    }
    Ok(())
}

/// Makes a user of an address that nobody has. Where somebody made one of it meanwhile, the unit of work begins anew.
pub async fn create(
    tx: &mut Tx,
    engine: &Engine,
    email: &Email,
    proof: Option<Proof>,
) -> Result<UserRow, Fail> {
    let id = engine.ids.make(IdKind::User);
    let user = UserRow {
        email: email.seal(engine, &id)?,
        email_tag: email.tag(engine),
        email_verified: proof == Some(Proof::Mail),
        shell_verified: proof == Some(Proof::Shell),
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
    let inserted = till_store::users::insert(tx, &user).await;
    inserted.map_err(|error| match error.violates("users") {
        true => Fail::Again,
        false => Fail::from(error),
    })?;
    Ok(user)
}

/// A user as they are by now.
pub async fn shown(
    q: &mut impl till_store::Queries,
    engine: &Engine,
    id: &str,
) -> Result<UserView, Fail> {
    let passkeys = till_store::passkeys::count_of(q, id).await?;
    view(engine, &find(q, id).await?, passkeys)
}

/// Changes the name and the language of whoever asks.
pub async fn update(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    name: &Change<String>,
    locale: &Change<String>,
) -> Result<UserView, Fail> {
    let user = till_store::users::find_for_update(tx, &context.asked.user).await?;
    let mut user = user.ok_or_else(|| Fail::broken("a user is missing"))?;
    name.apply(&mut user.name);
    locale.apply(&mut user.locale);
    let (name, locale) = (user.name.as_deref(), user.locale.as_deref());
    till_store::users::set_profile(tx, &user.id, name, locale).await?;
    shown(tx, context.engine, &user.id).await
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
