//! The people of two organisations under chance, and an operator: invited, promoted, demoted, removed and locked out; what
//! they change with and without a passkey's yes, the keys they make, and what takes effect when its time has come. Requests
//! are let in by one process and done by another, sometimes after the right to them was taken away. What must hold is read
//! from the answers, the tables and the audit log.

mod ask;
mod choose;
mod hold;
mod log;
mod once;
mod people;
mod rights;
mod steps;
mod yes;

#[path = "../../../../api/tests/dashboard/authenticator.rs"]
#[expect(dead_code, reason = "the dashboard's own tests use all of it")]
mod authenticator;

use std::sync::Arc;

use till_core::asset::Mode;
use till_core::scope::Scope;
use till_engine::Engine;

use crate::run::{Checks, Simulated};
use crate::runner;
use crate::seeds::{Family, Seed};
use crate::tape::Tape;
use crate::world::{Check, World};
use ask::{KeyRequest, Request};
use hold::Before;
use log::Log;
use once::Once;
use people::Person;

/// The organisations, by the place of their test mode among the world's merchants.
const ORGANIZATIONS: [usize; 2] = [0, 2];
const PEOPLE: usize = 7;
/// Who is an operator from the start.
const OPERATOR: usize = 6;

/// Something that lets its holder in, with the address it was made for.
#[derive(Clone, Debug)]
pub struct Link {
    pub token: String,
    pub email: String,
}

pub struct Story {
    pub world: World,
    pub processes: [Arc<Engine>; 2],
    pub people: Vec<Person>,
    pub invites: Vec<Link>,
    pub links: Vec<Link>,
    /// Secret keys, as they were shown once.
    pub keys: Vec<String>,
    /// The confirmations that passkeys said yes to, used or not.
    pub yeses: Vec<String>,
    /// Requests that were let in and are not done yet.
    pub held: Vec<Request>,
    pub held_by_key: Vec<KeyRequest>,
    /// What was sent in this step.
    pub sent: Vec<Request>,
    pub once: Once,
    pub log: Log,
    /// The tables before this step.
    pub before: Before,
}

impl Story {
    async fn new(seed: u64, tape: Option<Tape>) -> Story {
        let world = World::new(seed, tape).await;
        let processes = [0, 1].map(|_| world.process(&world.clock, None));
        let people = (0..PEOPLE).map(Person::new).collect();
        Story {
            world,
            processes,
            people,
            invites: Vec::new(),
            links: Vec::new(),
            keys: Vec::new(),
            yeses: Vec::new(),
            held: Vec::new(),
            held_by_key: Vec::new(),
            sent: Vec::new(),
            once: Once::default(),
            log: Log::default(),
            before: Before::default(),
        }
    }

    /// The id of an organisation.
    pub fn account(&self, organization: usize) -> String {
        let merchant = &self.world.model.merchants[ORGANIZATIONS[organization]];
        merchant.scope.account.to_string()
    }

    pub fn live(&self, organization: usize) -> Scope {
        Scope::new(&self.account(organization), Mode::Live)
    }

    /// A process died and starts again.
    pub fn restart(&mut self, process: usize) {
        self.processes[process] = self.world.process(&self.world.clock, None);
    }
}

impl Simulated for Story {
    const STEPS: usize = 250;
    const KEEPS_TIME: bool = true;

    async fn new(seed: u64, tape: Option<Tape>) -> Story {
        Story::new(seed, tape).await
    }

    fn world(&mut self) -> &mut World {
        &mut self.world
    }

    async fn begin(&mut self) -> Check {
        hold::begin(self).await;
        steps::begin(self).await?;
        hold::always(self).await
    }

    async fn step(&mut self) -> Check {
        steps::step(self).await
    }

    async fn check(&mut self, _: usize, _: Checks) -> Check {
        hold::always(self).await
    }

    async fn come_to_rest(&mut self) -> Check {
        steps::come_to_rest(self).await?;
        hold::always(self).await?;
        hold::at_rest(self).await
    }
}

#[test]
fn members_do_what_they_may_and_nothing_twice_on_every_seed() {
    let seeds = (0..12).map(|number| Seed {
        family: Family::Members,
        number,
    });
    let visited = runner::must_hold(seeds);
    let missing: Vec<_> = [
        "invite.created",
        "invite.withdrawn",
        "member.joined",
        "member.left",
        "member.removed",
        "member.role_changed",
        "organization.disabled",
        "organization.enabled",
        "organization.renamed",
        "application.approved",
        "application.rejected",
        "application.submitted",
        "application.updated",
        "application.withdrawn",
        "change.requested",
        "change.cancelled",
        "change.effective",
        "api_key.created",
        "api_key.revoked",
        "api_key.rolled",
        "api_key.taken_over",
        "settings.updated",
        "session.ended",
        "session.revoked",
        "passkey.added",
        "passkey.removed",
        "totp.enabled",
        "totp.disabled",
        "a live change that waited",
        "a change that ended with its asker's right",
        "an invitation that ended with its inviter's right",
        "a right taken away before the commit",
        "a key whose maker lost the right",
        "signed in by cli",
        "signed in by passkey",
        "signed in by link_passkey",
        "signed in by link_totp",
        "a yes used",
        "a yes for something else",
        "a yes used twice",
        "a yes that came too late",
        "two at once",
        "nothing of the other's",
        "last_owner",
        "cannot_change_self",
        "role_not_assignable",
        "permission_denied",
        "account_disabled",
        "application_not_approved",
        "api_key_permission_denied",
        "step_up_required",
        "operator_conflict",
        "change_pending",
        "change_not_pending",
        "invite_invalid",
        "already_member",
        "magic_link_invalid",
        "ceremony_expired",
        "session_expired",
        "killed when done",
        "killed and undone",
    ]
    .into_iter()
    .filter(|name| !visited.contains(*name))
    .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
