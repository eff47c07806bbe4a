//! A passkey's yes to a request that is to come: asked for and given, or not; for this request, or for another.

use till_core::asset::Mode;
use till_engine::team::confirming::Target;
use till_engine::team::sessions::Signed;
use till_engine::team::unit::NeedsYes;
use till_store::Queries as _;

use super::ask::{Ask, Request, Signature};
use super::{Story, steps};
use crate::world::Check;

const TOO_LONG_MS: i64 = 6 * 60_000;

/// Gives the request a yes, as people do who may need one: mostly their own and for it.
pub async fn give(
    story: &mut Story,
    person: usize,
    signed: &Signed,
    request: &mut Request,
) -> Check {
    let is_wanted = request.needs_yes != NeedsYes::No || request.asked.mode == Some(Mode::Live);
    let is_of_members = matches!(
        request.ask,
        Ask::SetRole { .. } | Ask::Remove { .. } | Ask::Invite { .. }
    );
    story.world.rng.about("yes", &request.ask.path());
    let chance = story.world.rng.below(20);
    if !(is_wanted || is_of_members) || signed.passkeys == 0 || chance == 0 {
        return Ok(());
    }
    let id = match chance {
        1 | 2 if !story.yeses.is_empty() => Some(story.world.rng.pick(&story.yeses).clone()),
        3 => {
            let other = Target {
                body_hash: [7; 32],
                ..request.target()
            };
            say(story, person, signed, other).await?
        }
        _ => say(story, person, signed, request.target()).await?,
    };
    request.asked.confirmation.id = id;
    if story.world.rng.percent(4) {
        story.world.clock.advance(TOO_LONG_MS);
    }
    Ok(())
}

/// The passkey is asked about a request, and says yes.
async fn say(
    story: &mut Story,
    person: usize,
    signed: &Signed,
    target: Target,
) -> Result<Option<String>, String> {
    let begun = request(story, person, signed, Ask::BeginYes(target));
    let Ok(begun) = steps::send(story, &begun).await? else {
        return Ok(None);
    };
    if story.world.rng.percent(3) {
        story.world.clock.advance(TOO_LONG_MS);
    }
    let id = begun["id"].as_str().unwrap_or_default().to_owned();
    let answer = Signature(story.people[person].device.get(&begun["options"]));
    let times = 1 + usize::from(story.world.rng.percent(5));
    for _ in 0..times {
        let (id, answer) = (id.clone(), answer.clone());
        let said = request(story, person, signed, Ask::SayYes { id, answer });
        if steps::send(story, &said).await?.is_ok() {
            story
                .once
                .take(format!("the question {}", said.ask.path()))?;
        }
    }
    story.yeses.push(id.clone());
    Ok(Some(id))
}

fn request(story: &mut Story, person: usize, signed: &Signed, ask: Ask) -> Request {
    let key = steps::key(story);
    Request::new(person, signed, ("", Mode::Test), key, ask)
}

/// Why a yes that a request carried did not count.
pub async fn refused(story: &mut Story, request: &Request) {
    let Some(id) = &request.asked.confirmation.id else {
        return;
    };
    let sql = "SELECT confirmed_at, used_at, expires_at FROM confirmations WHERE id = $1";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let found: Option<(Option<i64>, Option<i64>, i64)> =
        reader.one(sql, &[id.as_str().into()]).await.unwrap();
    drop(reader);
    let now = story.world.real_now();
    story.world.visit(match found {
        Some((_, Some(_), _)) => "a yes used twice",
        Some((Some(_), None, until)) if until <= now => "a yes that came too late",
        Some((Some(_), None, _)) => "a yes for something else",
        _ => "a yes that was never said",
    });
}
