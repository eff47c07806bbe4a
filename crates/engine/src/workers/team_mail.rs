//! Mails to the people who work with the dashboard: claim, send, record. Like mails to payers, one may be sent twice where
//! a process dies in between, and none is lost.

use scoped_futures::ScopedFutureExt as _;
use till_core::time::MINUTE_MS;
use till_core::webhook::retry_delay_ms;
use till_store::Tx;
use till_store::link_mails::LinkMailRow;
use till_store::member_notices::MemberNoticeRow;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::mail::Locale;
use crate::mail::render::Rendered;
use crate::mail::team::{Letter, letter};
use crate::smtp::{Mail, Mailer};
use crate::team::{emails, link_mails};

const CLAIM_MAX: i64 = 16;
/// Longer than all of them may take; a worker that died is taken over after it.
const CLAIM_MS: i64 = 5 * MINUTE_MS;

/// Sends some of what is due, and says how many there were.
pub async fn send_batch(engine: &Engine, mailer: &Mailer) -> Result<usize, Fail> {
    let (links, notices) = claim(engine).await?;
    for mail in &links {
        send_link(engine, mailer, mail).await?;
    }
    for notice in &notices {
        send_notice(engine, mailer, notice).await?;
    }
    Ok(links.len() + notices.len())
}

async fn claim(engine: &Engine) -> Result<(Vec<LinkMailRow>, Vec<MemberNoticeRow>), Fail> {
    let claimed = engine.db.write(move |tx: &mut Tx| {
        async move {
            let now = engine.clock.now_ms();
            let until = now + CLAIM_MS;
            let links = till_store::link_mails::claim(tx, now, until, CLAIM_MAX).await?;
            let notices = till_store::member_notices::claim(tx, now, until, CLAIM_MAX).await?;
            Ok((links, notices))
        }
        .scope_boxed()
    });
    claimed.await
}

fn locale(tag: Option<&str>) -> Locale {
    tag.and_then(Locale::parse).unwrap_or(Locale::En)
}

/// Sends a mail and says whether the server took it.
async fn send(engine: &Engine, mailer: &Mailer, id: &str, to: String, of: Rendered) -> bool {
    let mail = Mail {
        from_name: None,
        to,
        subject: of.subject,
        text: of.text,
        html: of.html,
        message_id: id.to_owned(),
        date_ms: engine.clock.now_ms(),
    };
    let sent = mailer.send(&mail).await;
    if let Err(error) = &sent {
        tracing::warn!(mail = %id, %error, "a mail was not sent, for the reason in `error`; it is tried again: check mail.smtp_url and mail.from if this lasts");
    }
    let label = if sent.is_ok() { "yes" } else { "no" };
    metrics::counter!("till_mails_total", "sent" => label).increment(1);
    sent.is_ok()
}

/// When it is tried again; none where it was tried often enough.
fn next_try(engine: &Engine, attempts: i64) -> Option<i64> {
    let tried = u32::try_from(attempts + 1).unwrap_or(u32::MAX);
    let jitter = u64::from_le_bytes(engine.ids.random());
    retry_delay_ms(tried, jitter).map(|delay| engine.clock.now_ms() + delay)
}

async fn send_link(engine: &Engine, mailer: &Mailer, mail: &LinkMailRow) -> Result<(), Fail> {
    let of = match &*mail.kind {
        "sign_in" => Some(Letter::SignIn),
        "sign_up" => Some(Letter::SignUp),
        "invite" => Some(Letter::Invite),
        _ => None,
    };
    let is_late = engine.clock.now_ms() >= mail.expires_at;
    let (Some(of), false) = (of, is_late) else {
        return settle_link(engine, mail, None).await;
    };
    let content = match link_mails::open(engine, mail) {
        Ok(content) => content,
        Err(fail) => {
            tracing::error!(mail = %mail.id, ?fail, "a mail could not be composed and is given up; check that secrets.key_file has the key it was encrypted with");
            return settle_link(engine, mail, None).await;
        }
    };
    let rendered = letter(locale(mail.locale.as_deref()), of, &content.link, None);
    let is_sent = send(engine, mailer, &mail.id, content.email, rendered).await;
    let next = next_try(engine, mail.attempts).filter(|_| !is_sent);
    settle_link(engine, mail, next).await
}

/// Puts a mail off until then, or forgets it.
async fn settle_link(engine: &Engine, mail: &LinkMailRow, next: Option<i64>) -> Result<(), Fail> {
    let settled = engine.db.write(move |tx: &mut Tx| {
        async move {
            match next.filter(|next| *next < mail.expires_at) {
                Some(next) => {
                    till_store::link_mails::put_off(tx, &mail.id, mail.fence, next).await?
                }
                None => till_store::link_mails::remove(tx, &mail.id, mail.fence).await?,
            };
            Ok(())
        }
        .scope_boxed()
    });
    settled.await
}

async fn send_notice(
    engine: &Engine,
    mailer: &Mailer,
    notice: &MemberNoticeRow,
) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let user = till_store::users::find(&mut reader, &notice.user_id).await?;
    drop(reader);
    let user = user.ok_or_else(|| Fail::broken("a notice's user is missing"))?;
    let link = format!("{}/notices", engine.config.dashboard.url);
    let rendered = letter(
        locale(user.locale.as_deref()),
        Letter::Notice,
        &link,
        Some(&notice.kind),
    );
    let is_sent = match emails::open(engine, &user.id, &user.email) {
        Ok(to) => send(engine, mailer, &notice.id, to, rendered).await,
        Err(fail) => {
            tracing::error!(notice = %notice.id, ?fail, "a member's e-mail address cannot be decrypted, so a notice is not sent; check that secrets.key_file has the key it was encrypted with");
            false
        }
    };
    let next = next_try(engine, notice.attempts).filter(|_| !is_sent);
    let mail = match (is_sent, next) {
        (true, _) => "sent",
        (false, Some(_)) => "queued",
        (false, None) => "failed",
    };
    let recorded = engine.db.write(move |tx: &mut Tx| {
        async move {
            let (id, fence) = (&*notice.id, notice.fence);
            till_store::member_notices::record_mail(tx, id, fence, mail, next).await?;
            Ok(())
        }
        .scope_boxed()
    });
    recorded.await
}
