//! What can happen among members, step by step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::page::Page;
use till_core::role::Role;
use till_core::scope::Credential;
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::merchants::accounts::KeyKind;
use till_engine::once::Once;
use till_engine::team::applications::decide_at_command_line;
use till_engine::team::audit_log::{self, AuditFilter};
use till_engine::team::changes;
use till_engine::team::emails::Email;
use till_engine::team::operator::set_disabled_at_command_line;
use till_engine::team::organizations::MembershipRow;
use till_engine::team::{api_keys, command_line, inviting, members};
use till_engine::workers::timers;
use till_engine::{Answer, Fail};

use super::ask::{self, Ask, KeyRequest, Request};
use super::choose::{MEMBERS, choose, ids, some_email, some_role};
use super::people::{self, Outcome, mortal, outcome};
use super::{OPERATOR, Story, hold, yes};
use crate::world::Check;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const LIVE_ASSET: &str = "USDC@eip155:1";

/// Each organisation has an owner, an admin and a developer, and there is an operator.
pub async fn begin(story: &mut Story) -> Check {
    for (person, role) in [
        (0, Role::Owner),
        (1, Role::Owner),
        (2, Role::Admin),
        (3, Role::Admin),
        (4, Role::Developer),
        (5, Role::Developer),
    ] {
        invite_at_shell(story, person % 2, person, role).await?;
        people::accept_last(story).await?;
        hold::always(story).await?;
    }
    let email = Email::parse(&story.people[OPERATOR].email).expect("an address");
    let engine = Arc::clone(&story.processes[0]);
    let made = command_line::create_operator(&engine, &email).await;
    made.map_err(|fail| format!("{fail:?}"))?;
    Ok(())
}

pub async fn step(story: &mut Story) -> Check {
    story.sent.clear();
    match story.world.rng.below(52) {
        0..=23 => ask_something(story).await,
        24..=26 => go_on(story).await,
        27..=29 => people::accept(story).await,
        30..=32 => people::by_link(story).await,
        33 => people::by_passkey(story).await,
        34 | 35 => people::second_factor(story).await,
        36..=38 => add_passkey(story).await,
        39 | 40 => switch_codes_on(story).await,
        41 | 42 => use_key(story).await,
        43 => sell(story).await,
        44 | 45 => at_shell(story).await,
        46 => look(story).await,
        _ => pass_time(story).await,
    }
}

pub fn key(story: &mut Story) -> String {
    story.world.keys_made += 1;
    format!("key-{}", story.world.keys_made)
}

/// Somebody who is signed in asks for something. Some requests wait at the door before they are done; some are sent twice
/// under one key, and some twice at once under two.
async fn ask_something(story: &mut Story) -> Check {
    let Some((mut person, mut signed)) = people::signed(story).await? else {
        return Ok(());
    };
    // Those who lead have more to do.
    let leads = |of: &MembershipRow| matches!(&*of.role, "owner" | "admin");
    if !signed.organizations.iter().any(leads)
        && story.world.rng.percent(60)
        && let Some(other) = people::signed(story).await?
    {
        (person, signed) = other;
    }
    let own: Vec<usize> = (0..2)
        .filter(|of| {
            let account = story.account(*of);
            signed.organizations.iter().any(|it| it.account == account)
        })
        .collect();
    let organization = match own.is_empty() || story.world.rng.percent(5) {
        true => story.world.rng.below(2),
        false => *story.world.rng.pick(&own),
    };
    let mode = *story.world.rng.pick(&[Mode::Test, Mode::Live, Mode::Live]);
    // Live mode is for people with a passkey: the door says so.
    let mode = if signed.passkeys == 0 {
        Mode::Test
    } else {
        mode
    };
    let ask = choose(story, &signed, organization).await;
    story.world.rng.about("how", &());
    let account = story.account(organization);
    let key = key(story);
    let mut request = Request::new(person, &signed, (&account, mode), key, ask);
    yes::give(story, person, &signed, &mut request).await?;
    match story.world.rng.below(10) {
        0 | 1 => {
            story
                .world
                .note(format!("p{person} waits with {:?}", request.ask));
            story.held.push(request);
            Ok(())
        }
        2 => {
            let first = send(story, &request).await?;
            let again = send(story, &request).await?;
            // Who took their own right away is not told twice that they did.
            match first.is_ok() && again.is_ok() && again != first {
                true => Err(format!("{:?} was answered otherwise", request.ask)),
                false => Ok(()),
            }
        }
        3 => two_at_once(story, &request).await,
        _ => send(story, &request).await.map(drop),
    }
}

/// The same, under two keys, of both processes at once.
async fn two_at_once(story: &mut Story, request: &Request) -> Check {
    let key = key(story);
    let other = Request {
        key,
        ..request.clone()
    };
    story.sent.extend([request.clone(), other.clone()]);
    let [one, two] = story.processes.clone();
    let nothing = (Mutex::default(), Mutex::default());
    let done = futures::join!(
        ask::exec(&one, request, &nothing.0),
        ask::exec(&two, &other, &nothing.1)
    );
    story.world.visit("two at once");
    drop(settle(story, request, done.0, false)?);
    drop(settle(story, &other, done.1, false)?);
    Ok(())
}

/// A request is done, and what came of it is taken note of.
pub async fn send(story: &mut Story, request: &Request) -> Outcome<Value> {
    story.sent.push(request.clone());
    let renewed = &Mutex::default();
    let (done, was_killed) = mortal(story, async |engine| {
        ask::exec(engine, request, renewed).await
    })
    .await;
    let token = renewed.lock().unwrap().take();
    if let Some(token) = token {
        story.people[request.person].cookies.push(token.0);
    }
    let done = settle(story, request, done, was_killed)?;
    if done == Err("step_up_required") {
        yes::refused(story, request).await;
    }
    Ok(done)
}

fn settle(
    story: &mut Story,
    request: &Request,
    done: Result<Answer, Fail>,
    was_killed: bool,
) -> Outcome<Value> {
    let done = outcome(story, done).map_err(|wrong| format!("{:?}: {wrong}", request.ask))?;
    let (ask, asked) = (&request.ask, &request.asked);
    let said = match &done {
        Ok(answer) => format!("{}", answer.status),
        Err(code) => (*code).to_owned(),
    };
    story.world.note(format!(
        "p{} {ask:?} {:?} {:?} -> {said}",
        request.person,
        asked.account,
        asked.mode.map(Mode::as_str)
    ));
    let answer = match done {
        Ok(answer) => answer,
        Err(code) => return Ok(Err(code)),
    };
    if was_killed {
        story.world.visit(match answer.replayed {
            true => "killed when done",
            false => "killed and undone",
        });
    }
    let shown: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match ask {
        Ask::Invite { email, .. } => {
            let link = shown["link"].as_str().unwrap_or_default();
            people::keep_invite(story, email, link);
        }
        Ask::NewKey {
            kind: KeyKind::Secret,
        }
        | Ask::RollKey { .. } => {
            keep_key(story, &shown);
            story.held_by_key.clear();
        }
        Ask::OfferCodes => {
            let seed = shown["secret"].as_str().map(str::to_owned);
            story.people[request.person].seed = seed;
        }
        // What a key was let in for is done before anybody hears that it ended, or lost its mode.
        Ask::RevokeKey { .. } | Ask::TakeOverKey { .. } | Ask::Decide { .. } => {
            story.held_by_key.clear();
        }
        _ => {}
    }
    Ok(Ok(shown))
}

fn keep_key(story: &mut Story, shown: &Value) {
    let text = |name: &str| shown[name].as_str().unwrap_or_default().to_owned();
    if text("kind") == "secret" {
        story.keys.push(text("key"));
    }
}

/// One of those who wait goes on, though what they may do has changed perhaps.
async fn go_on(story: &mut Story) -> Check {
    if story.world.rng.percent(40) && !story.held_by_key.is_empty() {
        let at = story.world.rng.place(&story.held_by_key);
        let request = story.held_by_key.remove(at);
        return send_by_key(story, &request).await;
    }
    if story.held.is_empty() {
        return Ok(());
    }
    let at = story.world.rng.place(&story.held);
    let request = story.held.remove(at);
    let done = send(story, &request).await?;
    if let Err("permission_denied" | "session_expired" | "account_disabled") = done {
        story.world.visit("a right taken away before the commit");
    }
    Ok(())
}

/// The browser makes a passkey. Some answers are sent twice.
async fn add_passkey(story: &mut Story) -> Check {
    let Some((person, signed)) = people::signed(story).await? else {
        return Ok(());
    };
    let key_of_first = key(story);
    let nowhere = ("", Mode::Test);
    let mut begun = Request::new(person, &signed, nowhere, key_of_first, Ask::BeginPasskey);
    yes::give(story, person, &signed, &mut begun).await?;
    let Ok(begun) = send(story, &begun).await? else {
        return Ok(());
    };
    let ceremony = begun["id"].as_str().unwrap_or_default().to_owned();
    let answer = ask::Signature(story.people[person].device.create(&begun["options"]));
    let times = 1 + usize::from(story.world.rng.percent(15));
    for _ in 0..times {
        let (ceremony, answer) = (ceremony.clone(), answer.clone());
        let spent = format!("the ceremony {ceremony}");
        let ask = Ask::AddPasskey { ceremony, answer };
        let key = key(story);
        let added = Request::new(person, &signed, nowhere, key, ask);
        if send(story, &added).await?.is_ok() {
            story.once.take(spent)?;
        }
    }
    Ok(())
}

async fn switch_codes_on(story: &mut Story) -> Check {
    let Some((person, signed)) = people::signed(story).await? else {
        return Ok(());
    };
    let nowhere = ("", Mode::Test);
    let first = key(story);
    let mut offer = Request::new(person, &signed, nowhere, first, Ask::OfferCodes);
    yes::give(story, person, &signed, &mut offer).await?;
    if send(story, &offer).await?.is_err() {
        return Ok(());
    }
    let Some((code, spent)) = people::some_code(story, person) else {
        return Ok(());
    };
    let key = key(story);
    let on = Request::new(person, &signed, nowhere, key, Ask::SwitchCodesOn { code });
    match send(story, &on).await? {
        Ok(_) => story.once.take(spent),
        Err(_) => Ok(()),
    }
}

/// A secret key changes a setting, now or after it has waited.
async fn use_key(story: &mut Story) -> Check {
    if story.keys.is_empty() {
        return Ok(());
    }
    let secret = story.world.rng.pick(&story.keys).clone();
    let (key, name) = (key(story), format!("Name {}", story.world.keys_made));
    let process = story.world.rng.below(2);
    let engine = Arc::clone(&story.processes[process]);
    let made = KeyRequest::new(&engine, &secret, key, name).await;
    let Ok(request) = outcome(story, made)? else {
        return Ok(());
    };
    match story.world.rng.percent(30) {
        true => {
            story.held_by_key.push(request);
            Ok(())
        }
        false => send_by_key(story, &request).await,
    }
}

async fn send_by_key(story: &mut Story, request: &KeyRequest) -> Check {
    let (done, _) = mortal(story, async |engine| request.exec(engine).await).await;
    let done = outcome(story, done)?.map(drop);
    story.world.note(format!(
        "{:?} sets {} -> {done:?}",
        request.asker.actor, request.name
    ));
    if done == Err("api_key_permission_denied") {
        story.world.visit("a key whose maker lost the right");
    }
    Ok(())
}

/// A live invoice is made: from the first one on, live changes wait.
async fn sell(story: &mut Story) -> Check {
    let organization = story.world.rng.below(2);
    let key = key(story);
    let request = CreateInvoice {
        scope: story.live(organization),
        once: Once::new(
            Actor::key("key_1"),
            Credential::Merchant,
            key,
            "POST",
            "/v1/invoices",
            b"",
        ),
        request: NewInvoice {
            amount: "25.00".to_owned(),
            currency: "USD".to_owned(),
            assets: Some(vec![LIVE_ASSET.to_owned()]),
            description: None,
            customer_ref: None,
            return_url: None,
            metadata: BTreeMap::new(),
        },
        wanted: PendingRequest::default(),
    };
    let engine = Arc::clone(&story.processes[0]);
    let made = create_all(&engine, &[request]).await.remove(0);
    let made = outcome(story, made)?;
    story
        .world
        .note(format!("{organization} sells -> {:?}", made.err()));
    Ok(())
}

async fn invite_at_shell(
    story: &mut Story,
    organization: usize,
    person: usize,
    role: Role,
) -> Check {
    let account = &story.account(organization);
    let text = story.people[person].email.clone();
    let email = &Email::parse(&text).expect("an address");
    let (made, _) = mortal(story, async |engine| {
        command_line::invite(engine, account, email, role, false).await
    })
    .await;
    if let Ok(Some(made)) = outcome(story, made)? {
        people::keep_invite(story, &text, &made.link.link);
    }
    Ok(())
}

/// Whoever has the server's shell lets somebody in, or switches an organisation, live mode or an operator off and on.
async fn at_shell(story: &mut Story) -> Check {
    let organization = story.world.rng.below(2);
    let account = &story.account(organization);
    let is_on = story.world.rng.percent(50);
    match story.world.rng.below(6) {
        0 => {
            let person = story.world.rng.below(story.people.len());
            let role = some_role(story);
            invite_at_shell(story, organization, person, role).await
        }
        1 | 2 => {
            let is_disabled = story.before.disabled.contains(account);
            let disables = !is_disabled && story.world.rng.percent(40);
            let (done, _) = mortal(story, async |engine| {
                set_disabled_at_command_line(engine, account, disables).await
            })
            .await;
            outcome(story, done).map(drop)
        }
        3 | 4 => {
            story.held_by_key.clear();
            let (done, _) = mortal(story, async |engine| {
                decide_at_command_line(engine, account, is_on).await
            })
            .await;
            outcome(story, done).map(drop)
        }
        _ => {
            let email = &Email::parse(&some_email(story)).expect("an address");
            let (done, _) = mortal(story, async |engine| match is_on {
                true => command_line::create_operator(engine, email).await.map(drop),
                false => command_line::remove_operator(engine, email).await.map(drop),
            })
            .await;
            outcome(story, done).map(drop)
        }
    }
}

/// Somebody reads all lists of one organisation: nothing of the other is in them.
async fn look(story: &mut Story) -> Check {
    let organization = story.world.rng.below(2);
    let (account, other) = (story.account(organization), story.account(1 - organization));
    let engine = Arc::clone(&story.processes[story.world.rng.below(2)]);
    let page = &Page {
        before: None,
        limit: 100,
    };
    let mut seen = Vec::new();
    let fail = |fail: Fail| format!("{fail:?}");
    for member in members::list(&engine, &account, page)
        .await
        .map_err(fail)?
        .items
    {
        seen.push((MEMBERS, member.id));
    }
    let all = "SELECT id FROM invites WHERE account = $1";
    for invite in inviting::list(&engine, &account, page)
        .await
        .map_err(fail)?
        .items
    {
        seen.push((all, invite.id));
    }
    for mode in [Mode::Test, Mode::Live] {
        let scope = &till_core::scope::Scope::new(&account, mode);
        let found = changes::list(&engine, scope, (None, None), page).await;
        let all = "SELECT id FROM changes WHERE account = $1";
        for change in found.map_err(fail)?.items {
            seen.push((all, change.id));
        }
        let all = "SELECT id FROM api_keys WHERE account = $1";
        for key in api_keys::list(&engine, scope, page)
            .await
            .map_err(fail)?
            .items
        {
            seen.push((all, key.id));
        }
    }
    let filter = &AuditFilter::default();
    let all = "SELECT id FROM audit_events WHERE account = $1";
    let found = audit_log::list(&engine, &account, filter, page).await;
    for event in found.map_err(fail)?.items {
        seen.push((all, event.id));
    }
    for sql in seen.iter().map(|(sql, _)| *sql).collect::<Vec<_>>() {
        let own = ids(story, sql, &account).await;
        let of_sql = seen.iter().filter(|(of, _)| *of == sql);
        if let Some((_, foreign)) = of_sql.into_iter().find(|(_, id)| !own.contains(id)) {
            return Err(format!(
                "{account} was shown {foreign}, which {other} may have"
            ));
        }
    }
    story.world.visit("nothing of the other's");
    Ok(())
}

/// Time passes, and the workers do what is due. No request waits that long at the door.
async fn pass_time(story: &mut Story) -> Check {
    let ms = match story.world.rng.below(10) {
        0..=5 => story.world.rng.between(1, 4 * MINUTE_MS),
        6..=8 => story.world.rng.between(1, 3 * HOUR_MS),
        _ => story.world.rng.between(1, 30 * HOUR_MS),
    };
    story.world.clock.advance(ms);
    story.world.note(format!("{ms} ms pass"));
    if ms > 4 * MINUTE_MS {
        story.held.clear();
        story.held_by_key.clear();
    }
    let (done, _) = mortal(story, async |engine| timers::run_due(engine).await).await;
    outcome(story, done)?.map_err(str::to_owned)?;
    hold::nothing_due(story).await
}

pub async fn come_to_rest(story: &mut Story) -> Check {
    story.sent.clear();
    story.world.clock.advance(48 * HOUR_MS);
    let engine = Arc::clone(&story.processes[0]);
    let done = timers::run_due(&engine).await;
    outcome(story, done)?.map_err(str::to_owned)?;
    hold::nothing_due(story).await
}
