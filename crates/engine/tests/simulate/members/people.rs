//! How people get in: by an invitation, by a link of the command line, by passkey, and with a second factor.

use std::sync::Arc;

use till_core::actor::Origin;
use till_core::error::Code;
use till_engine::base::clock::Clock as _;
use till_engine::team::command_line;
use till_engine::team::emails::Email;
use till_engine::team::entry::{self, Arrival, Entered, SecondFactor};
use till_engine::team::invites;
use till_engine::team::sessions::{self, Signed};
use till_engine::{Engine, Fail};
use totp_rs::{Algorithm, Builder, Secret};

use super::authenticator::Authenticator;
use super::{Link, Story};
use crate::world::Check;

const STEP_MS: i64 = 30_000;

pub struct Person {
    pub email: String,
    pub device: Authenticator,
    /// What the authenticator app has, as it was shown.
    pub seed: Option<String>,
    /// The tokens of sessions, as they were answered.
    pub cookies: Vec<String>,
    /// The token of a session that awaits its second factor.
    pub pending: Option<String>,
}

impl Person {
    pub fn new(number: usize) -> Person {
        Person {
            email: format!("p{number}@example.com"),
            device: Authenticator::new(),
            seed: None,
            cookies: Vec::new(),
            pending: None,
        }
    }
}

/// What was answered, or the code it was refused with; anything else is a defect.
pub type Outcome<T> = Result<Result<T, &'static str>, String>;

pub fn outcome<T>(story: &mut Story, done: Result<T, Fail>) -> Outcome<T> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(Fail::Refused(refusal)) => {
            story.world.visit(refusal.code.as_str());
            Ok(Err(refusal.code.as_str()))
        }
        Err(fail) => Err(format!("{fail:?}")),
    }
}

/// Does something in one of the processes. If that dies of it, whoever lost the answer asks the other one. Says whether it
/// died, too.
pub async fn mortal<T>(
    story: &mut Story,
    work: impl AsyncFn(&Engine) -> Result<T, Fail>,
) -> (Result<T, Fail>, bool) {
    story.world.rng.about("process", &());
    let process = story.world.rng.below(2);
    let doom = story.world.doom();
    let engine = Arc::clone(&story.processes[process]);
    match story.world.mortal(doom, work(&engine)).await {
        Some(done) => (done, false),
        None => {
            story.restart(process);
            let engine = Arc::clone(&story.processes[1 - process]);
            (work(&engine).await, true)
        }
    }
}

/// The code of a step beside now.
fn code(story: &Story, seed: &str, steps: i64) -> (i64, String) {
    let totp = Builder::new()
        .with_algorithm(Algorithm::SHA1)
        .with_digits(6)
        .with_step_duration(30)
        .with_secret(Secret::try_from_base32(seed).unwrap())
        .build()
        .unwrap();
    let step = story.world.clock.now_ms() / STEP_MS + steps;
    let at = u64::try_from(step * STEP_MS / 1_000).unwrap();
    (step, totp.generate(at).to_string())
}

/// A code that is good now unless it was used, and what counts as using it.
pub fn some_code(story: &mut Story, person: usize) -> Option<(String, String)> {
    let seed = story.people[person].seed.clone()?;
    let steps = story.world.rng.between(-1, 1);
    let (step, code) = code(story, &seed, steps);
    Some((code, format!("the code of {step} by {seed}")))
}

/// Somebody who is signed in, as a server reads it from a cookie.
pub async fn signed(story: &mut Story) -> Result<Option<(usize, Signed)>, String> {
    let able: Vec<usize> = (0..story.people.len())
        .filter(|of| !story.people[*of].cookies.is_empty())
        .collect();
    if able.is_empty() {
        return Ok(None);
    }
    let person = *story.world.rng.pick(&able);
    let at = story.world.rng.below(story.people[person].cookies.len());
    Ok(signed_by(story, person, at).await?.map(|it| (person, it)))
}

/// Nobody where the session is over; its cookie is thrown away then.
async fn signed_by(
    story: &mut Story,
    person: usize,
    cookie: usize,
) -> Result<Option<Signed>, String> {
    let process = story.world.rng.below(2);
    let engine = Arc::clone(&story.processes[process]);
    let token = story.people[person].cookies[cookie].clone();
    let found = sessions::signed_in(&engine, &token).await;
    let found = outcome(story, found)?;
    if found.is_err() {
        story.people[person].cookies.remove(cookie);
    }
    Ok(found.ok())
}

fn arrival() -> Arrival {
    Arrival {
        origin: Origin::default(),
        session: None,
        browser: None,
    }
}

/// Somebody is in, or has yet to give a second factor.
fn enter(story: &mut Story, (signed, token): Entered) {
    let email = signed_email(story, &signed);
    let person = story.people.iter().position(|of| of.email == email);
    let person = person.expect("somebody whom we know");
    match signed.is_pending() {
        true => story.people[person].pending = Some(token.0),
        false => {
            let how = format!("signed in by {}", signed.session.method);
            story.world.visit(&how);
            story.people[person].cookies.push(token.0);
        }
    }
}

fn signed_email(story: &Story, signed: &Signed) -> String {
    let engine = &story.processes[0];
    let email = till_engine::team::emails::open(engine, &signed.user.id, &signed.user.email);
    email.expect("an address that opens")
}

fn token_of(link: &str) -> String {
    link.rsplit('=').next().unwrap_or_default().to_owned()
}

/// Keeps the link of an invitation for whoever it was made for.
pub fn keep_invite(story: &mut Story, email: &str, link: &str) {
    story.invites.push(Link {
        token: token_of(link),
        email: email.to_owned(),
    });
}

/// Whoever was invited last comes in, nobody being signed in.
pub async fn accept_last(story: &mut Story) -> Check {
    let link = story.invites.last().expect("an invitation").clone();
    let engine = Arc::clone(&story.processes[0]);
    let done = invites::accept(&engine, &link.token, None, &Origin::default()).await;
    let (signed, token) = done.map_err(|fail| format!("{fail:?}"))?;
    story.once.take(format!("the invitation {}", link.token))?;
    enter(story, (signed, token.expect("a new session")));
    Ok(())
}

/// An invitation is accepted: mostly by whom it is for, and sometimes again.
pub async fn accept(story: &mut Story) -> Check {
    if story.invites.is_empty() {
        return Ok(());
    }
    let link = story.world.rng.pick(&story.invites).clone();
    let person = match story.world.rng.percent(90) {
        true => story.people.iter().position(|of| of.email == link.email),
        false => Some(story.world.rng.below(story.people.len())),
    };
    let person = person.expect("somebody whom we know");
    let is_signed = !story.people[person].cookies.is_empty() && story.world.rng.percent(90);
    let signed = match is_signed {
        true => signed_by(story, person, 0).await?,
        false => None,
    };
    let (token, origin) = (&link.token, &Origin::default());
    let (done, _) = mortal(story, async |engine| {
        invites::accept(engine, token, signed.clone(), origin).await
    })
    .await;
    let done = outcome(story, done)?;
    story.world.note(format!(
        "p{person} accepts {} -> {}",
        link.email,
        done.is_ok()
    ));
    if let Ok((signed, token)) = done {
        story.once.take(format!("the invitation {}", link.token))?;
        if let Some(token) = token {
            enter(story, (signed, token));
        }
    }
    Ok(())
}

/// The command line makes a link to sign in with, and one is used: the last, or one that was used before perhaps.
pub async fn by_link(story: &mut Story) -> Check {
    if story.links.is_empty() || story.world.rng.percent(60) {
        make_link(story).await?;
    }
    if story.links.is_empty() {
        return Ok(());
    }
    let link = match story.world.rng.percent(60) {
        true => story.links[story.links.len() - 1].clone(),
        false => story.world.rng.pick(&story.links).clone(),
    };
    let token = &link.token;
    let (done, _) = mortal(story, async |engine| {
        entry::by_link(engine, token, &arrival()).await
    })
    .await;
    let done = outcome(story, done)?;
    story
        .world
        .note(format!("the link of {} -> {}", link.email, done.is_ok()));
    if let Ok(entered) = done {
        story.once.take(format!("the link {}", link.token))?;
        enter(story, entered);
    }
    Ok(())
}

async fn make_link(story: &mut Story) -> Check {
    let person = story.world.rng.below(story.people.len());
    let text = story.people[person].email.clone();
    let email = &Email::parse(&text).expect("an address");
    let (made, _) = mortal(story, async |engine| {
        command_line::sign_in_link(engine, email).await
    })
    .await;
    if let Ok(Some(made)) = outcome(story, made)? {
        story.links.push(Link {
            token: token_of(&made.link.link),
            email: text,
        });
    }
    Ok(())
}

/// Somebody signs in with a passkey alone. One in a few answers is sent a second time.
pub async fn by_passkey(story: &mut Story) -> Check {
    let able: Vec<usize> = (0..story.people.len())
        .filter(|of| story.people[*of].device.counter > 0)
        .collect();
    if able.is_empty() {
        return Ok(());
    }
    let person = *story.world.rng.pick(&able);
    let (begun, _) = mortal(story, async |engine| entry::begin_passkey(engine).await).await;
    let Ok(begun) = outcome(story, begun)? else {
        return Ok(());
    };
    let answer = story.people[person].device.get(&begun.options);
    let times = 1 + usize::from(story.world.rng.percent(20));
    for _ in 0..times {
        let (done, _) = mortal(story, async |engine| {
            entry::by_passkey(engine, &begun.id, &answer, &arrival()).await
        })
        .await;
        let done = outcome(story, done)?;
        story
            .world
            .note(format!("p{person} comes by passkey -> {}", done.is_ok()));
        if let Ok(entered) = done {
            story.once.take(format!("the ceremony {}", begun.id))?;
            enter(story, entered);
        }
    }
    Ok(())
}

/// Whoever came by a link gives the second factor: a passkey or a code.
pub async fn second_factor(story: &mut Story) -> Check {
    let waiting: Vec<usize> = (0..story.people.len())
        .filter(|of| story.people[*of].pending.is_some())
        .collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let person = *story.world.rng.pick(&waiting);
    let Some(token) = story.people[person].pending.clone() else {
        return Ok(());
    };
    let engine = Arc::clone(&story.processes[0]);
    let found = sessions::signed_in(&engine, &token).await;
    let Ok(signed) = outcome(story, found)? else {
        story.people[person].pending = None;
        return Ok(());
    };
    let signed = &signed;
    let code = match story.world.rng.percent(60) {
        true => some_code(story, person),
        false => None,
    };
    let (done, spent) = match code {
        Some((code, spent)) => {
            let origin = &Origin::default();
            let (done, _) = mortal(story, async |engine| {
                entry::by_second_factor(engine, signed, origin, SecondFactor::Code(&code)).await
            })
            .await;
            (done, spent)
        }
        None => passkey_besides(story, person, signed).await?,
    };
    let done = outcome(story, done)?;
    story.world.note(format!(
        "p{person} gives a second factor -> {done:?}",
        done = done.as_ref().err()
    ));
    match done {
        Ok(entered) => {
            story.once.take(spent)?;
            story.people[person].pending = None;
            enter(story, entered);
        }
        Err(code) if code == Code::MfaNotPending.as_str() => story.people[person].pending = None,
        Err(_) => {}
    }
    Ok(())
}

async fn passkey_besides(
    story: &mut Story,
    person: usize,
    signed: &Signed,
) -> Result<(Result<Entered, Fail>, String), String> {
    let (begun, _) = mortal(story, async |engine| {
        entry::begin_second_factor(engine, signed).await
    })
    .await;
    let begun = match begun {
        Ok(begun) => begun,
        Err(fail) => return Ok((Err(fail), String::new())),
    };
    let (id, origin) = (begun.id, &Origin::default());
    let answer = story.people[person].device.get(&begun.options);
    let (done, _) = mortal(story, async |engine| {
        let factor = SecondFactor::Passkey {
            ceremony: &id,
            answer: &answer,
        };
        entry::by_second_factor(engine, signed, origin, factor).await
    })
    .await;
    Ok((done, format!("the ceremony {id}")))
}
