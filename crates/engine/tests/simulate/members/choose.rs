//! What signed-in people ask for, by weight: mostly of their own organisation, at times of the other one.

use till_core::role::Role;
use till_engine::merchants::accounts::KeyKind;
use till_engine::team::changes::{ChangeValue, NewChange};
use till_engine::team::sessions::Signed;
use till_store::{Queries as _, Val};

use super::ask::Ask;
use super::{Story, people};

const ADDRESSES: [&str; 3] = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
];

/// The first column of what a query finds.
pub async fn ids(story: &Story, sql: &str, account: &str) -> Vec<String> {
    let args: &[Val] = &[account.into()];
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String,)> = reader.all(sql, args).await.unwrap();
    rows.into_iter().map(|(id,)| id).collect()
}

/// Something of this organisation, or at times of the other one.
async fn some(story: &mut Story, sql: &str, organization: usize) -> String {
    let of = match story.world.rng.percent(90) {
        true => organization,
        false => 1 - organization,
    };
    let account = story.account(of);
    let found = ids(story, sql, &account).await;
    match found.is_empty() {
        true => "nothing".to_owned(),
        false => story.world.rng.pick(&found).clone(),
    }
}

pub fn some_role(story: &mut Story) -> Role {
    let weights = [
        (3, Role::Owner),
        (3, Role::Admin),
        (4, Role::Developer),
        (1, Role::Support),
        (1, Role::Viewer),
    ];
    story.world.rng.weighted(&weights)
}

pub fn some_email(story: &mut Story) -> String {
    let person = story.world.rng.below(story.people.len());
    story.people[person].email.clone()
}

pub const MEMBERS: &str = "SELECT user_id FROM members WHERE account = $1 ORDER BY user_id";
const INVITES: &str =
    "SELECT id FROM invites WHERE account = $1 AND accepted_at IS NULL ORDER BY id";
const INVITERS: &str = "SELECT DISTINCT invited_by FROM invites WHERE account = $1 AND invited_by IS NOT NULL \
     AND accepted_at IS NULL AND withdrawn_at IS NULL ORDER BY invited_by";
const CHANGES: &str =
    "SELECT id FROM changes WHERE account = $1 ORDER BY status = 'pending' DESC, id LIMIT 4";
const KEYS: &str = "SELECT id FROM api_keys WHERE account = $1 AND rolled_at IS NULL ORDER BY id";
const APPLICATIONS: &str = "SELECT id FROM applications WHERE account = $1";

pub async fn choose(story: &mut Story, signed: &Signed, organization: usize) -> Ask {
    if signed.user.is_operator && story.world.rng.percent(40) {
        return operate(story, organization).await;
    }
    let account = story.account(organization);
    let mut own = signed.organizations.iter();
    let status = own.find(|of| of.account == account && of.role == "owner");
    let status = status.and_then(|of| of.application_status.as_deref());
    if status.is_some_and(|status| status != "approved") && story.world.rng.percent(65) {
        return match (status, story.world.rng.below(4)) {
            (Some("pending"), 0 | 1) => Ask::TakeBack,
            (_, 0) => Ask::Edit,
            (_, 1 | 2) => Ask::Submit,
            _ => Ask::TakeBack,
        };
    }
    match story.world.rng.below(35) {
        0..=3 => Ask::SetRole {
            user: some_member(story, organization).await,
            role: some_role(story),
        },
        4 | 5 => Ask::Remove {
            user: some_member(story, organization).await,
        },
        6 => Ask::Leave,
        7..=12 => Ask::Invite {
            email: some_email(story),
            role: some_role(story),
        },
        13 => Ask::Withdraw {
            invite: some(story, INVITES, organization).await,
        },
        14 => Ask::Rename,
        15..=20 => Ask::RequestChange(some_change(story)),
        21..=23 => Ask::CancelChange {
            change: some(story, CHANGES, organization).await,
        },
        24..=27 => choose_key(story, organization).await,
        28 | 29 => Ask::Settings {
            name: format!("Name {}", story.world.keys_made),
        },
        30 => Ask::Edit,
        31 => operate(story, organization).await,
        _ => choose_own(story, signed).await,
    }
}

/// Often somebody whose invitations are open, so that these lose the right that they rest on.
async fn some_member(story: &mut Story, organization: usize) -> String {
    let account = story.account(organization);
    let inviters = ids(story, INVITERS, &account).await;
    match !inviters.is_empty() && story.world.rng.percent(50) {
        true => story.world.rng.pick(&inviters).clone(),
        false => some(story, MEMBERS, organization).await,
    }
}

async fn operate(story: &mut Story, organization: usize) -> Ask {
    let account = story.account(organization);
    match story.world.rng.below(6) {
        0 => Ask::Disable { account },
        1 | 2 => Ask::Enable { account },
        at => Ask::Decide {
            application: some(story, APPLICATIONS, organization).await,
            approves: at > 3,
        },
    }
}

async fn choose_key(story: &mut Story, organization: usize) -> Ask {
    match story.world.rng.below(6) {
        0..=2 => Ask::NewKey {
            kind: *story
                .world
                .rng
                .pick(&[KeyKind::Secret, KeyKind::Secret, KeyKind::Publishable]),
        },
        3 => Ask::RollKey {
            id: some(story, KEYS, organization).await,
        },
        4 => Ask::RevokeKey {
            id: some(story, KEYS, organization).await,
        },
        _ => Ask::TakeOverKey {
            id: some(story, KEYS, organization).await,
        },
    }
}

async fn choose_own(story: &mut Story, signed: &Signed) -> Ask {
    let user = &signed.user.id;
    match story.world.rng.below(6) {
        0 => {
            let sql = "SELECT id FROM passkeys WHERE user_id = $1 ORDER BY id";
            let own = ids(story, sql, user).await;
            match own.is_empty() {
                true => Ask::SignOut,
                false => Ask::RemovePasskey {
                    id: story.world.rng.pick(&own).clone(),
                },
            }
        }
        1 | 2 => {
            let person = story.people.iter().position(|of| {
                let email =
                    till_engine::team::emails::open(&story.processes[0], user, &signed.user.email);
                email.is_ok_and(|email| email == of.email)
            });
            let code = person.and_then(|person| people::some_code(story, person));
            Ask::SwitchCodesOff {
                code: code.map(|(code, _)| code),
            }
        }
        3 => {
            let sql = "SELECT id FROM sessions WHERE user_id = $1 ORDER BY id DESC LIMIT 3";
            let own = ids(story, sql, user).await;
            Ask::Revoke {
                session: story.world.rng.pick(&own).clone(),
            }
        }
        4 => Ask::RevokeOthers,
        _ => Ask::SignOut,
    }
}

fn some_change(story: &mut Story) -> NewChange {
    let asked = match story.world.rng.below(5) {
        0..=2 => ChangeValue::Destination {
            family: "eip155".to_owned(),
            address: match story.world.rng.below(8) {
                0 => None,
                _ => Some((*story.world.rng.pick(&ADDRESSES)).to_owned()),
            },
        },
        3 => ChangeValue::WebhookUrl(match story.world.rng.below(4) {
            0 => None,
            at => Some(format!("https://hooks{at}.example.com/hooks")),
        }),
        _ => ChangeValue::WebhookSecret,
    };
    let delay_s = match story.world.rng.percent(30) {
        true => 0,
        false => story.world.rng.between(1, 100_000),
    };
    NewChange { asked, delay_s }
}
