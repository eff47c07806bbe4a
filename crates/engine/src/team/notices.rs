//! What members and operators are told: on their page, and by mail where there is mail.

use till_core::id::IdKind;
use till_store::Tx;
use till_store::member_notices::MemberNoticeRow;

use crate::base::Engine;
use crate::base::fail::Fail;

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To<'t> {
    /// Every owner and admin of an organisation.
    Managers(&'t str),
    User(&'t str),
    Operators,
}

/// Writes notices of one kind about one thing, in the unit of work of what they tell.
pub async fn tell(
    tx: &mut Tx,
    engine: &Engine,
    to: To<'_>,
    kind: &str,
    target: &str,
) -> Result<(), Fail> {
    let (account, users) = match to {
        To::Managers(account) => (
            Some(account),
            till_store::members::managers(tx, account).await?,
        ),
        To::User(user) => (None, vec![user.to_owned()]),
        To::Operators => (None, till_store::users::operators(tx).await?),
    };
    let now = engine.clock.now_ms();
    let has_mail = engine.mailer.is_some();
    let notices: Vec<_> = users
        .into_iter()
        .map(|user_id| MemberNoticeRow {
            id: engine.ids.make(IdKind::MemberNotice),
            user_id,
            account: account.map(str::to_owned),
            kind: kind.to_owned(),
            target: target.to_owned(),
            created_at: now,
            read_at: None,
            mail: if has_mail { "queued" } else { "off" }.to_owned(),
            due_at: has_mail.then_some(now),
            fence: 0,
            attempts: 0,
        })
        .collect();
    Ok(till_store::member_notices::insert(tx, &notices).await?)
}
