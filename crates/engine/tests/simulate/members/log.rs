//! I31 by the audit log: nobody did what they had no right to when it was committed, and whatever changed is in it.
//!
//! The log is read in the order in which it was committed. What it tells is added up, and must be what the tables have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use till_store::{Db, Queries as _, Val};

use super::Story;
use super::hold::Before;
use super::rights::{is_operators, is_own, leads, may, may_give, may_request};
use crate::world::Check;

#[derive(Clone, Debug)]
pub struct Event {
    pub account: Option<String>,
    pub mode: Option<String>,
    pub user_id: Option<String>,
    pub actor: String,
    pub action: String,
    pub target: String,
    pub session_id: Option<String>,
    pub details: String,
}

impl Event {
    /// The user who did it, if one did.
    pub fn user(&self) -> Option<&str> {
        self.actor.strip_prefix("user:")
    }

    pub fn text(&self, name: &str) -> Option<String> {
        let details: Value = serde_json::from_str(&self.details).ok()?;
        details[name].as_str().map(str::to_owned)
    }
}

/// What the log has told so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    events_read: i64,
    notices_read: i64,
    roles: BTreeMap<(String, String), String>,
    /// Who is a member no more.
    former: BTreeSet<(String, String)>,
    disabled: BTreeSet<String>,
    applications: BTreeMap<String, String>,
    /// `open`, `accepted` or `withdrawn`.
    invites: BTreeMap<String, &'static str>,
    changes: BTreeMap<String, &'static str>,
    /// Who answers for a key, and whether it works.
    keys: BTreeMap<String, (Option<String>, bool)>,
}

async fn last(db: &Db, table: &str) -> i64 {
    let mut reader = db.read().await.unwrap();
    let sql = format!("SELECT COALESCE(MAX(rowid), 0) FROM {table}");
    let found: Option<(i64,)> = reader.one(&sql, &[]).await.unwrap();
    found.map_or(0, |(last,)| last)
}

impl Log {
    /// What was there before anybody did anything.
    pub async fn begin(&mut self, db: &Db, tables: &Before) {
        self.events_read = last(db, "audit_events").await;
        self.notices_read = last(db, "member_notices").await;
        let applications = tables.applications.iter();
        self.applications = applications
            .map(|(account, (_, status))| (account.clone(), status.clone()))
            .collect();
        let keys = tables.keys.iter();
        self.keys = keys
            .map(|(id, key)| {
                (
                    id.clone(),
                    (key.created_by.clone(), key.rolled_at.is_none()),
                )
            })
            .collect();
    }

    fn role(&self, account: &str, user: &str) -> Option<&String> {
        self.roles.get(&(account.to_owned(), user.to_owned()))
    }

    fn is_live(&self, account: &str) -> bool {
        self.applications.get(account).map(String::as_str) == Some("approved")
    }

    /// Whether whoever did it had the right to.
    fn check(&self, event: &Event, before: &Before, now: &Before) -> Check {
        let wrong = |why: &str| Err(format!("{why}: {event:?}"));
        let account = event.account.as_deref().unwrap_or_default();
        if let Some(key) = event.actor.strip_prefix("api_key:") {
            return self.check_key(event, key, account);
        }
        let Some(user) = event.user() else {
            return self.check_nobody(event, now);
        };
        let session = event.session_id.as_ref();
        let session = session.and_then(|id| before.sessions.get(id).or(now.sessions.get(id)));
        match session {
            Some((of, is_over)) if of != user || *is_over => {
                return wrong("by a session that is another's or was over");
            }
            None if !matches!(&*event.action, "member.joined" | "sign_in.failed") => {
                return wrong("by no session");
            }
            _ => {}
        }
        if is_operators(&event.action) {
            return self.check_operator(event, user, account, before);
        }
        if event.account.is_none() {
            let is_right = is_own(&event.action) && event.user_id.as_deref() == Some(user);
            return if is_right {
                Ok(())
            } else {
                wrong("in nobody's log")
            };
        }
        if is_own(&event.action) {
            let is_member = self.role(account, user).is_some();
            return if is_member {
                Ok(())
            } else {
                wrong("in the log of others")
            };
        }
        if self.disabled.contains(account) {
            return wrong("in an organisation that was disabled");
        }
        if event.mode.as_deref() == Some("live") && !self.is_live(account) {
            return wrong("in live mode, which was not approved");
        }
        let joins = event.action == "member.joined";
        let joined = event.text("role").filter(|_| joins);
        let Some(role) = self.role(account, user).or(joined.as_ref()) else {
            return wrong("by nobody of the organisation");
        };
        let kind = event.text("kind").unwrap_or_default();
        if !may(&event.action, &kind, role, event.mode.as_deref()) {
            return wrong(&format!("by somebody who is {role}"));
        }
        self.check_target(event, user, role)
    }

    /// Nobody acts on somebody above them, nor on themselves.
    fn check_target(&self, event: &Event, user: &str, role: &str) -> Check {
        let gives = |name: &str| event.text(name).is_none_or(|of| may_give(role, &of));
        let is_right = match &*event.action {
            "member.role_changed" => event.target != user && gives("from") && gives("to"),
            "member.removed" => event.target != user && gives("role"),
            "member.left" | "member.joined" => event.target == user,
            "invite.created" => gives("role"),
            _ => true,
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("{role} acts above their right: {event:?}")),
        }
    }

    fn check_operator(&self, event: &Event, user: &str, account: &str, before: &Before) -> Check {
        let belongs = (account.to_owned(), user.to_owned());
        let is_decision = event.action.starts_with("application.");
        let is_own =
            self.roles.contains_key(&belongs) || (is_decision && self.former.contains(&belongs));
        match before.operators.contains(user) && !is_own {
            true => Ok(()),
            false => Err(format!("by no operator, or by one of its own: {event:?}")),
        }
    }

    /// A key may do what whoever answers for it may do.
    fn check_key(&self, event: &Event, key: &str, account: &str) -> Check {
        let (creator, works) = self.keys.get(key).cloned().unwrap_or_default();
        let mode = event.mode.as_deref();
        let role = creator.as_ref().and_then(|user| self.role(account, user));
        let may = |role: &String| may(&event.action, "", role, mode);
        let is_right = works && (creator.is_none() || role.is_some_and(may));
        let is_off =
            self.disabled.contains(account) || (mode == Some("live") && !self.is_live(account));
        match is_right && !is_off {
            true => Ok(()),
            false => Err(format!("by a key that may not: {event:?}")),
        }
    }

    /// What Till does by itself, and what the command line does.
    fn check_nobody(&self, event: &Event, now: &Before) -> Check {
        let is_right = match (&*event.actor, &*event.action) {
            ("cli", _) => true,
            ("system", "change.effective" | "invite.withdrawn") => true,
            ("system", "change.cancelled") => {
                now.changes.get(&event.target).is_some_and(|change| {
                    let role = now.role(&change.account, &change.requested_by);
                    let may = |role: &str| may_request(&change.kind, role, Some(&change.mode));
                    !role.is_some_and(may)
                        || now.disabled.contains(&change.account)
                        || (change.mode == "live" && !now.is_live(&change.account))
                })
            }
            _ => false,
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("nobody should have done it: {event:?}")),
        }
    }

    /// Adds up what it tells.
    fn add(&mut self, event: &Event) -> Check {
        let account = event.account.clone().unwrap_or_default();
        let target = event.target.clone();
        let member = (account.clone(), target.clone());
        let role = |name: &str| event.text(name).unwrap_or_default();
        match &*event.action {
            "member.joined" => {
                self.roles.insert(member, role("role"));
                let invite = role("invite");
                self.turn("invite", &invite, &["open"], "accepted")?;
            }
            "member.role_changed" => drop(self.roles.insert(member, role("to"))),
            "member.left" | "member.removed" => {
                self.roles.remove(&member);
                self.former.insert(member);
            }
            "organization.disabled" => drop(self.disabled.insert(account)),
            "organization.enabled" => drop(self.disabled.remove(&account)),
            "application.updated" | "application.withdrawn" => self.applied(account, "draft"),
            "application.submitted" => self.applied(account, "pending"),
            "application.approved" => self.applied(account, "approved"),
            "application.rejected" => self.applied(account, "rejected"),
            "invite.created" => self.turn("invite", &target, &[""], "open")?,
            "invite.withdrawn" => self.turn("invite", &target, &["open"], "withdrawn")?,
            "change.requested" => self.turn("change", &target, &[""], "pending")?,
            "change.effective" => self.turn("change", &target, &["", "pending"], "effective")?,
            "change.cancelled" => self.turn("change", &target, &["pending"], "cancelled")?,
            "api_key.created" | "api_key.rolled" => {
                let maker = event.user().map(str::to_owned);
                self.keys.insert(target, (maker, true));
                if let Some(old) = event.text("from").and_then(|id| self.keys.get_mut(&id)) {
                    old.1 = false;
                }
            }
            "api_key.taken_over" => {
                let maker = event.user().map(str::to_owned);
                self.keys.entry(target).or_default().0 = maker;
            }
            "api_key.revoked" => self.keys.entry(target).or_default().1 = false,
            _ => {}
        }
        Ok(())
    }

    fn applied(&mut self, account: String, status: &str) {
        self.applications.insert(account, status.to_owned());
    }

    /// An invitation or a change goes from one state to another, as only some may.
    fn turn(&mut self, what: &str, id: &str, from: &[&str], to: &'static str) -> Check {
        let states = match what {
            "invite" => &mut self.invites,
            _ => &mut self.changes,
        };
        let was = states.insert(id.to_owned(), to).unwrap_or_default();
        match from.contains(&was) {
            true => Ok(()),
            false => Err(format!("the {what} {id} was {was:?} and is {to} now")),
        }
    }

    /// What was added up is what is there.
    fn compare(&self, now: &Before) -> Check {
        same("members", &self.roles, &now.roles)?;
        same("disabled organisations", &self.disabled, &now.disabled)?;
        let statuses = now.applications.iter();
        let statuses = statuses.map(|(account, (_, status))| (account.clone(), status.clone()));
        same("applications", &self.applications, &statuses.collect())?;
        let changes = now.changes.iter();
        let changes = changes.map(|(id, change)| (id.clone(), change.status.clone()));
        same("changes", &shown(&self.changes), &changes.collect())?;
        let invites = now.invites.iter().map(|(id, invite)| {
            let state = match (invite.accepted_at, invite.withdrawn_at) {
                (Some(_), _) => "accepted",
                (None, Some(_)) => "withdrawn",
                (None, None) => "open",
            };
            (id.clone(), state.to_owned())
        });
        same("invitations", &shown(&self.invites), &invites.collect())?;
        let keys = now.keys.iter();
        let keys = keys.map(|(id, key)| {
            (
                id.clone(),
                (key.created_by.clone(), key.rolled_at.is_none()),
            )
        });
        same("keys", &self.keys, &keys.collect())
    }
}

fn shown(states: &BTreeMap<String, &'static str>) -> BTreeMap<String, String> {
    let states = states.iter();
    states
        .map(|(id, state)| (id.clone(), (*state).to_owned()))
        .collect()
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, told: &T, there: &T) -> Check {
    match told == there {
        true => Ok(()),
        false => Err(format!(
            "{what}: the log tells {told:?}, there is {there:?}"
        )),
    }
}

/// What was changed is of the organisation in whose log it is told.
fn check_place(event: &Event, now: &Before) -> Check {
    let target = &event.target;
    let places = [
        now.changes.get(target).map(|of| &of.account),
        now.invites.get(target).map(|of| &of.account),
        now.keys.get(target).map(|of| &of.account),
    ];
    let mut places = places.into_iter().flatten();
    match places.any(|account| Some(account) != event.account.as_ref()) {
        true => Err(format!("told to others: {event:?}")),
        false => Ok(()),
    }
}

async fn unread(story: &Story) -> Vec<Event> {
    let sql = "SELECT account, mode, user_id, actor, action, target, session_id, details \
         FROM audit_events WHERE rowid > $1 ORDER BY rowid";
    type Text = Option<String>;
    type Line = (Text, Text, Text, String, String, String, Text, String);
    let args: &[Val] = &[story.log.events_read.into()];
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<Line> = reader.all(sql, args).await.unwrap();
    let event = |line: Line| {
        let (account, mode, user_id, actor, action, target, session_id, details) = line;
        Event {
            account,
            mode,
            user_id,
            actor,
            action,
            target,
            session_id,
            details,
        }
    };
    rows.into_iter().map(event).collect()
}

/// Reads what the log has told since the step before, and holds it against the tables.
pub async fn read_on(
    story: &mut Story,
    before: &Before,
    now: &Before,
) -> Result<Vec<Event>, String> {
    let events = unread(story).await;
    story.log.events_read = last(&story.world.engine.db, "audit_events").await;
    for event in &events {
        story.log.check(event, before, now)?;
        check_place(event, now)?;
        story.log.add(event)?;
    }
    story.log.compare(now)?;
    told(story, before, now, &events).await?;
    Ok(events)
}

/// Whoever leads an organisation all along is told once of what concerns it, and nobody else.
async fn told(story: &mut Story, before: &Before, now: &Before, events: &[Event]) -> Check {
    let sql =
        "SELECT user_id, account, kind, target FROM member_notices WHERE rowid > $1 ORDER BY rowid";
    type Line = (String, Option<String>, String, String);
    let args: &[Val] = &[story.log.notices_read.into()];
    let mut reader = story.world.engine.db.read().await.unwrap();
    let lines: Vec<Line> = reader.all(sql, args).await.unwrap();
    drop(reader);
    story.log.notices_read = last(&story.world.engine.db, "member_notices").await;
    for (user, account, kind, target) in &lines {
        let Some(account) = account else { continue };
        let is_of = |tables: &Before| tables.role(account, user).is_some();
        if !(is_of(before) || is_of(now)) {
            return Err(format!("{user} is told of {kind} {target} of {account}"));
        }
    }
    for event in events {
        let kind = match &*event.action {
            "member.left" => "member.removed",
            "application.approved" | "application.rejected" => "application.decided",
            "change.requested"
            | "change.cancelled"
            | "change.effective"
            | "member.joined"
            | "member.role_changed"
            | "member.removed"
            | "organization.disabled"
            | "organization.enabled" => &event.action,
            _ => continue,
        };
        let account = event.account.as_deref().unwrap_or_default();
        let leaders = now.roles.iter().filter(|((of, user), role)| {
            let led = before.role(of, user).is_some_and(leads);
            of == account && leads(role) && led
        });
        for ((_, user), _) in leaders {
            let is_it = |line: &&Line| line.0 == *user && line.2 == kind && line.3 == event.target;
            let alike = events
                .iter()
                .filter(|of| of.action == event.action && of.target == event.target);
            let (count, expected) = (lines.iter().filter(is_it).count(), alike.count());
            if count != expected {
                return Err(format!("{user} is told {count} times of {event:?}"));
            }
        }
    }
    Ok(())
}
