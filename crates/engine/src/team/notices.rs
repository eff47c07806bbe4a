//! What members and operators are told: on their page, and by mail where there is mail.

use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::time;
use till_store::Tx;
use till_store::member_notices::MemberNoticeRow;

use super::unit::TeamContext;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::MemberNoticeView;

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

fn view(notice: MemberNoticeRow) -> MemberNoticeView {
    MemberNoticeView {
        id: notice.id,
        object: "notice",
        kind: notice.kind,
        created_at: time::show(notice.created_at),
        target: notice.target,
        mail: notice.mail,
        read_at: notice.read_at.map(time::show),
    }
}

/// What a user was told, the newest first.
pub async fn list(
    engine: &Engine,
    user: &str,
    page: &Page,
) -> Result<Paged<MemberNoticeView>, Fail> {
    let mut reader = engine.db.read().await?;
    let (before, at_most) = (page.before.as_deref(), i64::from(page.and_one().limit));
    let rows = till_store::member_notices::of_user(&mut reader, user, before, at_most).await?;
    Ok(page.cut(rows, |row: &MemberNoticeRow| &row.id).map(view))
}

/// Marks one of the user's notices as read.
pub async fn read(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
) -> Result<MemberNoticeView, Fail> {
    let found = till_store::member_notices::find(tx, &context.asked.user, id).await?;
    let mut notice = found.ok_or_else(|| Refusal::of(Code::ResourceMissing).param("id"))?;
    till_store::member_notices::set_read(tx, id, context.now).await?;
    notice.read_at = notice.read_at.or(Some(context.now));
    Ok(view(notice))
}
