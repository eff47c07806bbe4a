//! What must hold after every step, read from the tables: who is a member of what, what waits, what works, what was used.

use std::collections::{BTreeMap, BTreeSet};

use till_store::{Queries as _, Reader, Row};

use super::log::{self, Event};
use super::rights::{leads, may_give, may_request};
use super::{ORGANIZATIONS, Story};
use crate::world::Check;

const DELAY_MS: i64 = 86_400_000;
const YES_MS: i64 = 5 * 60_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    pub id: String,
    pub account: String,
    pub role: String,
    pub invited_by: Option<String>,
    pub expires_at: i64,
    pub accepted_at: Option<i64>,
    pub withdrawn_at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: String,
    pub account: String,
    pub mode: String,
    pub kind: String,
    pub family: String,
    pub to_value: Option<String>,
    pub status: String,
    pub requested_by: String,
    pub requested_at: i64,
    pub effective_at: i64,
    pub cancelled_by: Option<String>,
    pub cancelled_at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub account: String,
    pub mode: String,
    pub kind: String,
    pub created_by: Option<String>,
    pub rolled_at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Yes {
    pub id: String,
    pub session_id: String,
    pub account: String,
    pub mode: String,
    pub path: String,
    pub body_hash: Vec<u8>,
    pub created_at: i64,
    pub confirmed_at: Option<i64>,
    pub used_at: Option<i64>,
}

/// The tables, as they were at one moment.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// Roles, by organisation and user.
    pub roles: BTreeMap<(String, String), String>,
    pub disabled: BTreeSet<String>,
    /// Of each organisation: the id and the status.
    pub applications: BTreeMap<String, (String, String)>,
    pub operators: BTreeSet<String>,
    /// Whose each session is, and whether it is over.
    pub sessions: BTreeMap<String, (String, bool)>,
    pub with_passkey: BTreeSet<String>,
    pub invites: BTreeMap<String, Invite>,
    pub changes: BTreeMap<String, Change>,
    pub keys: BTreeMap<String, Key>,
    pub yeses: BTreeMap<String, Yes>,
    /// What is in effect: destinations and webhook URLs, by organisation, mode and subject.
    pub values: BTreeMap<(String, String, String), Option<String>>,
    /// How many webhook secrets there have been.
    pub secrets: BTreeMap<(String, String), i64>,
    /// Organisations that have sold something.
    pub sellers: BTreeSet<String>,
}

impl Before {
    pub fn role(&self, account: &str, user: &str) -> Option<&str> {
        let key = (account.to_owned(), user.to_owned());
        self.roles.get(&key).map(String::as_str)
    }

    pub fn is_live(&self, account: &str) -> bool {
        let found = self.applications.get(account);
        found.is_some_and(|(_, status)| status == "approved")
    }
}

async fn all<T: Row>(reader: &mut Reader, sql: &str) -> Vec<T> {
    reader.all(sql, &[]).await.unwrap()
}

async fn invites(reader: &mut Reader) -> BTreeMap<String, Invite> {
    let sql =
        "SELECT id, account, role, invited_by, expires_at, accepted_at, withdrawn_at FROM invites";
    type Line = (
        String,
        String,
        String,
        Option<String>,
        i64,
        Option<i64>,
        Option<i64>,
    );
    let rows: Vec<Line> = all(reader, sql).await;
    let invite = |(id, account, role, invited_by, expires_at, accepted_at, withdrawn_at): Line| {
        let invite = Invite {
            id: id.clone(),
            account,
            role,
            invited_by,
            expires_at,
            accepted_at,
            withdrawn_at,
        };
        (id, invite)
    };
    rows.into_iter().map(invite).collect()
}

async fn changes(reader: &mut Reader) -> BTreeMap<String, Change> {
    let what = "SELECT id, account, mode, kind, family, to_value FROM changes ORDER BY id";
    type What = (String, String, String, String, String, Option<String>);
    let what: Vec<What> = all(reader, what).await;
    let sql = "SELECT status, requested_by, requested_at, effective_at, cancelled_by, cancelled_at \
         FROM changes ORDER BY id";
    type Course = (String, String, i64, i64, Option<String>, Option<i64>);
    let course: Vec<Course> = all(reader, sql).await;
    let both = what.into_iter().zip(course);
    let change = |(what, course): (What, Course)| {
        let (id, account, mode, kind, family, to_value) = what;
        let (status, requested_by, requested_at, effective_at, cancelled_by, cancelled_at) = course;
        let change = Change {
            id: id.clone(),
            account,
            mode,
            kind,
            family,
            to_value,
            status,
            requested_by,
            requested_at,
            effective_at,
            cancelled_by,
            cancelled_at,
        };
        (id, change)
    };
    both.map(change).collect()
}

async fn keys(reader: &mut Reader) -> BTreeMap<String, Key> {
    let sql = "SELECT id, account, mode, kind, created_by, rolled_at FROM api_keys";
    type Line = (String, String, String, String, Option<String>, Option<i64>);
    let rows: Vec<Line> = all(reader, sql).await;
    let key = |(id, account, mode, kind, created_by, rolled_at): Line| {
        let key = Key {
            account,
            mode,
            kind,
            created_by,
            rolled_at,
        };
        (id, key)
    };
    rows.into_iter().map(key).collect()
}

async fn yeses(reader: &mut Reader) -> BTreeMap<String, Yes> {
    let sql = "SELECT id, session_id, account, mode, path, body_hash, created_at, confirmed_at, used_at \
         FROM confirmations";
    type Line = (
        String,
        String,
        String,
        String,
        String,
        Vec<u8>,
        i64,
        Option<i64>,
        Option<i64>,
    );
    let rows: Vec<Line> = all(reader, sql).await;
    let yes = |line: Line| {
        let (id, session_id, account, mode, path, body_hash, created_at, confirmed_at, used_at) =
            line;
        let yes = Yes {
            id: id.clone(),
            session_id,
            account,
            mode,
            path,
            body_hash,
            created_at,
            confirmed_at,
            used_at,
        };
        (id, yes)
    };
    rows.into_iter().map(yes).collect()
}

async fn read(story: &Story) -> Before {
    let reader = &mut story.world.engine.db.read().await.unwrap();
    let mut now = Before::default();
    let rows: Vec<(String, String, String)> =
        all(reader, "SELECT account, user_id, role FROM members").await;
    now.roles = rows
        .into_iter()
        .map(|(a, u, role)| ((a, u), role))
        .collect();
    let rows: Vec<(String,)> = all(
        reader,
        "SELECT id FROM accounts WHERE disabled_at IS NOT NULL",
    )
    .await;
    now.disabled = rows.into_iter().map(|(id,)| id).collect();
    let rows: Vec<(String, String, String)> =
        all(reader, "SELECT account, id, status FROM applications").await;
    now.applications = rows.into_iter().map(|(a, id, of)| (a, (id, of))).collect();
    let rows: Vec<(String,)> = all(reader, "SELECT id FROM users WHERE is_operator = 1").await;
    now.operators = rows.into_iter().map(|(id,)| id).collect();
    let sql = "SELECT id, user_id, ended_at IS NOT NULL FROM sessions";
    let rows: Vec<(String, String, i64)> = all(reader, sql).await;
    now.sessions = rows
        .into_iter()
        .map(|(id, of, ended)| (id, (of, ended == 1)))
        .collect();
    let rows: Vec<(String,)> = all(reader, "SELECT DISTINCT user_id FROM passkeys").await;
    now.with_passkey = rows.into_iter().map(|(id,)| id).collect();
    now.invites = invites(reader).await;
    now.changes = changes(reader).await;
    now.keys = keys(reader).await;
    now.yeses = yeses(reader).await;
    let sql = "SELECT account, mode, destinations, webhook_url FROM merchants";
    let rows: Vec<(String, String, String, Option<String>)> = all(reader, sql).await;
    for (account, mode, destinations, url) in rows {
        let own: BTreeMap<String, String> = serde_json::from_str(&destinations).unwrap();
        let subject = |of: &str| (account.clone(), mode.clone(), of.to_owned());
        now.values
            .insert(subject("eip155"), own.get("eip155").cloned());
        now.values.insert(subject(""), url);
    }
    let sql = "SELECT account, mode, COUNT(*) FROM webhook_secrets GROUP BY account, mode";
    let rows: Vec<(String, String, i64)> = all(reader, sql).await;
    now.secrets = rows
        .into_iter()
        .map(|(a, m, count)| ((a, m), count))
        .collect();
    let sql = "SELECT DISTINCT account FROM invoices WHERE mode = 'live'";
    let rows: Vec<(String,)> = all(reader, sql).await;
    now.sellers = rows.into_iter().map(|(id,)| id).collect();
    now
}

/// What the world has made before the first step.
pub async fn begin(story: &mut Story) {
    story.before = read(story).await;
    story.log.begin(&story.world.engine.db, &story.before).await;
}

/// After every step.
pub async fn always(story: &mut Story) -> Check {
    let now = read(story).await;
    let before = std::mem::take(&mut story.before);
    owners(story, &before, &now)?;
    entered_once(&before, &now)?;
    changed(story, &before, &now)?;
    standing(&now, story.world.real_now())?;
    said(&before, &now)?;
    let events = log::read_on(story, &before, &now).await?;
    in_effect(&before, &now)?;
    confirmed(story, &before, &now, &events)?;
    visit(story, &before, &now, &events);
    story.before = now;
    Ok(())
}

fn visit(story: &mut Story, before: &Before, now: &Before, events: &[Event]) {
    for event in events {
        story.world.visit(&event.action);
    }
    for (id, change) in &now.changes {
        let was = before.changes.get(id).map(|of| &*of.status);
        match (was, &*change.status) {
            (Some("pending"), "effective") if change.mode == "live" => {
                story.world.visit("a live change that waited");
            }
            (Some("pending"), "cancelled") if change.cancelled_by.is_none() => {
                story
                    .world
                    .visit("a change that ended with its asker's right");
            }
            _ => {}
        }
    }
    for (id, invite) in &now.invites {
        let was_open = before
            .invites
            .get(id)
            .is_some_and(|was| was.withdrawn_at.is_none());
        let inviter = invite.invited_by.as_deref().unwrap_or_default();
        let role = now.role(&invite.account, inviter);
        let may = role.is_some_and(|role| may_give(role, &invite.role));
        if was_open && invite.withdrawn_at.is_some() && invite.invited_by.is_some() && !may {
            story
                .world
                .visit("an invitation that ended with its inviter's right");
        }
    }
}

/// I31: an organisation that ever had an owner has one.
fn owners(story: &Story, before: &Before, now: &Before) -> Check {
    let of = |tables: &Before, account: &str| {
        let roles = tables.roles.iter();
        roles
            .filter(|((of, _), role)| of == account && *role == "owner")
            .count()
    };
    for organization in 0..ORGANIZATIONS.len() {
        let account = &story.account(organization);
        if of(before, account) > 0 && of(now, account) == 0 {
            return Err(format!("nobody owns {account} any more"));
        }
    }
    Ok(())
}

/// I30: a step lets one in at most, whoever died in it and asked again.
fn entered_once(before: &Before, now: &Before) -> Check {
    let made = now.sessions.len() - before.sessions.len();
    match made > 1 {
        true => Err(format!("one step let somebody in {made} times")),
        false => Ok(()),
    }
}

/// A change waits as long as it must, and what became of it stays.
fn changed(story: &Story, before: &Before, now: &Before) -> Check {
    let at = story.world.real_now();
    for (id, change) in &now.changes {
        let Some(was) = before.changes.get(id) else {
            made(story, before, change)?;
            continue;
        };
        let is_same = Change {
            status: was.status.clone(),
            cancelled_by: was.cancelled_by.clone(),
            cancelled_at: was.cancelled_at,
            ..change.clone()
        } == *was;
        if !is_same {
            return Err(format!("{id} became another change"));
        }
        match (&*was.status, &*change.status) {
            ("pending", "effective") if at < change.effective_at => {
                return Err(format!("{id} took effect before its time"));
            }
            ("pending", "cancelled")
                if change.cancelled_by.is_some()
                    && change.cancelled_at >= Some(change.effective_at) =>
            {
                return Err(format!("{id} was stopped after its time had come"));
            }
            ("pending", _) => {}
            _ if was != change => return Err(format!("{id} was over and changed")),
            _ => {}
        }
    }
    match before
        .changes
        .keys()
        .find(|id| !now.changes.contains_key(*id))
    {
        Some(id) => Err(format!("{id} is not there any more")),
        None => Ok(()),
    }
}

/// A new one: in live mode it waits a day once there was an invoice, in test mode as long as was asked for.
fn made(story: &Story, before: &Before, change: &Change) -> Check {
    let waits = change.effective_at - change.requested_at;
    let is_right = match &*change.mode {
        "live" => match before.sellers.contains(&change.account) {
            true => waits == DELAY_MS,
            false => waits == 0,
        },
        _ => {
            let sent = story.sent.iter();
            let mut asked = sent.filter_map(|request| match &request.ask {
                super::ask::Ask::RequestChange(new) => Some(new.delay_s * 1_000),
                _ => None,
            });
            asked.any(|asked| asked == waits)
        }
    };
    let is_at_once = change.status == "effective";
    match is_right && is_at_once == (waits == 0) {
        true => Ok(()),
        false => Err(format!("{change:?} does not wait as it should")),
    }
}

/// What waits and what is open rests on somebody who still has the right to it.
fn standing(now: &Before, at: i64) -> Check {
    for change in now.changes.values().filter(|of| of.status == "pending") {
        let role = now.role(&change.account, &change.requested_by);
        let may = |role: &str| may_request(&change.kind, role, Some(&change.mode));
        let is_off = change.mode == "live" && !now.is_live(&change.account);
        if !role.is_some_and(may) || is_off || now.disabled.contains(&change.account) {
            return Err(format!("{} waits, and nobody may ask for it", change.id));
        }
    }
    for invite in now.invites.values() {
        let is_open = invite.accepted_at.is_none() && invite.withdrawn_at.is_none();
        let Some(inviter) = invite.invited_by.as_ref().filter(|_| is_open) else {
            continue;
        };
        let role = now.role(&invite.account, inviter);
        let may = role.is_some_and(|role| may_give(role, &invite.role));
        if at < invite.expires_at && !may {
            return Err(format!("{} is open, and nobody may give it", invite.id));
        }
    }
    Ok(())
}

/// I30: a yes is said within its time, used within its time and once, and never becomes another.
fn said(before: &Before, now: &Before) -> Check {
    for (id, yes) in &now.yeses {
        let was = before.yeses.get(id);
        let is_used_again = was.is_some_and(|was| was.used_at.is_some() && was != yes);
        let is_said_again = was
            .is_some_and(|was| was.confirmed_at.is_some() && was.confirmed_at != yes.confirmed_at);
        if is_used_again || is_said_again {
            return Err(format!("{id} counted twice"));
        }
        let in_time = |first: Option<i64>, then: Option<i64>| match then {
            Some(then) => first.is_some_and(|first| then < first + YES_MS),
            None => true,
        };
        let is_in_time = in_time(Some(yes.created_at), yes.confirmed_at)
            && in_time(yes.confirmed_at, yes.used_at);
        if !is_in_time {
            return Err(format!("{id} counted too late"));
        }
    }
    Ok(())
}

/// What is in effect is what the changes say that took effect, and nothing else.
fn in_effect(before: &Before, now: &Before) -> Check {
    let mut values = before.values.clone();
    let mut secrets = before.secrets.clone();
    let fresh = now.changes.iter().filter(|(id, change)| {
        let was = before.changes.get(*id);
        change.status == "effective" && was.is_none_or(|was| was.status != "effective")
    });
    for (_, change) in fresh {
        let (account, mode) = (change.account.clone(), change.mode.clone());
        match &*change.kind {
            "webhook_secret" => *secrets.entry((account, mode)).or_default() += 1,
            _ => {
                let subject = (account, mode, change.family.clone());
                values.insert(subject, change.to_value.clone());
            }
        }
    }
    if values != now.values {
        return Err(format!(
            "in effect is {:?}, expected {values:?}",
            now.values
        ));
    }
    match secrets == now.secrets {
        true => Ok(()),
        false => Err("a webhook secret came or went by itself".to_owned()),
    }
}

/// I30, I31: what needs a passkey's yes has one, given to exactly what was sent; no yes is used for nothing.
fn confirmed(story: &mut Story, before: &Before, now: &Before, events: &[Event]) -> Check {
    let is_used_now = |yes: &&Yes| {
        let was = before.yeses.get(&yes.id);
        yes.used_at.is_some() && was.is_none_or(|was| was.used_at.is_none())
    };
    let mut used: Vec<&Yes> = now.yeses.values().filter(is_used_now).collect();
    for yes in &used {
        let fits = |asked: &till_engine::team::unit::SignedRequest| {
            let confirmation = &asked.confirmation;
            confirmation.id.as_ref() == Some(&yes.id)
                && *asked.session == *yes.session_id
                && asked.account.as_deref().unwrap_or_default() == yes.account
                && asked.mode.map_or("", till_core::asset::Mode::as_str) == yes.mode
                && confirmation.path == yes.path
                && confirmation.body_hash[..] == yes.body_hash[..]
        };
        if !story.sent.iter().any(|request| fits(&request.asked)) {
            return Err(format!("{} was used for something else", yes.id));
        }
        story.world.visit("a yes used");
    }
    for event in events.iter().filter(|event| needs_yes(event, before, now)) {
        let fits = |yes: &&Yes| Some(&yes.session_id) == event.session_id.as_ref();
        match used.iter().position(fits) {
            Some(at) => drop(used.remove(at)),
            None => return Err(format!("{event:?} without a passkey's yes")),
        }
    }
    Ok(())
}

fn needs_yes(event: &Event, before: &Before, now: &Before) -> bool {
    let Some(user) = event.user() else {
        return false;
    };
    let account = event.account.as_deref().unwrap_or_default();
    let is_live_org = before.is_live(account);
    let leads_in = |name: &str| event.text(name).is_some_and(|role| leads(&role));
    match &*event.action {
        "change.requested" | "change.effective" => event.mode.as_deref() == Some("live"),
        "api_key.created" | "api_key.rolled" | "api_key.taken_over" => {
            let key = now.keys.get(&event.target);
            key.is_some_and(|key| key.kind == "secret" && key.mode == "live")
        }
        "application.submitted"
        | "application.approved"
        | "application.rejected"
        | "organization.disabled"
        | "organization.enabled" => true,
        "member.role_changed" => is_live_org && (leads_in("from") || leads_in("to")),
        "member.removed" | "invite.created" => is_live_org && leads_in("role"),
        "passkey.removed" => event.account.is_none(),
        "totp.disabled" => event.account.is_none() && before.with_passkey.contains(user),
        _ => false,
    }
}

/// Nothing is left whose time has come.
pub async fn nothing_due(story: &Story) -> Check {
    let (now, at) = (read(story).await, story.world.real_now());
    let mut pending = now.changes.values().filter(|of| of.status == "pending");
    match pending.find(|of| of.effective_at <= at) {
        Some(change) => Err(format!("{} is due and was left", change.id)),
        None => Ok(()),
    }
}

/// At rest nothing waits: two days are longer than any change does.
pub async fn at_rest(story: &Story) -> Check {
    let now = read(story).await;
    match now.changes.values().find(|of| of.status == "pending") {
        Some(change) => Err(format!("{change:?} never ends")),
        None => Ok(()),
    }
}
