//! New organisations, made by those who own them.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::role::Role;
use till_store::Tx;
use till_store::audit::AuditRow;
use till_store::members::MemberRow;

use super::attempts::{self, Counted};
use super::organizations;
use super::unit::TeamContext;
use super::users;
use crate::base::fail::Fail;
use crate::base::{Engine, Signup};
use crate::merchants::accounts::{Modes, create_in};
use crate::view::{NewOrganizationView, TestKeysView};

/// Organisations that one person owns, unless an operator makes them.
const OWNED_MAX: usize = 20;

/// Whether a user may make organisations: anybody where anybody may sign up, operators everywhere.
pub fn may_found(engine: &Engine, is_operator: bool) -> Result<(), Refusal> {
    match is_operator || engine.config.dashboard.signup == Signup::Open {
        true => Ok(()),
        false => Err(Refusal::of(Code::PermissionDenied)),
    }
}

/// Nobody fills the server with organisations: so many an hour, and so many that one person owns.
async fn check_count(tx: &mut Tx, engine: &Engine, user: &str) -> Result<(), Fail> {
    // Held, so that two requests at once count each other's.
    till_store::users::find_for_update(tx, user).await?;
    attempts::take(tx, engine, Counted::OrganizationsByUser, user).await?;
    let all = till_store::members::of_user(tx, user).await?;
    let owned = all.iter().filter(|of| of.role == Role::Owner.as_str());
    if owned.count() >= OWNED_MAX {
        let message = format!("A person owns at most {OWNED_MAX} organizations.");
        return Err(Refusal::new(Code::ParameterInvalid, message).into());
    }
    Ok(())
}

/// Makes an organisation with test mode set up, whose owner is who asks.
pub async fn found(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    name: &str,
) -> Result<NewOrganizationView, Fail> {
    let (engine, asked) = (context.engine, context.asked);
    let user = users::find(tx, &asked.user).await?;
    may_found(engine, user.is_operator)?;
    if !user.is_operator {
        check_count(tx, engine, &user.id).await?;
    }
    let made = create_in(tx, engine, name, Modes::TestOnly, &[], &context.actor()).await?;
    let member = MemberRow {
        account: made.id.clone(),
        user_id: user.id.clone(),
        role: Role::Owner,
        joined_at: context.now,
        last_active_at: Some(context.now),
    };
    till_store::members::insert(tx, &member).await?;
    let event = AuditRow {
        id: engine.ids.make(IdKind::AuditEvent),
        account: Some(made.id.clone()),
        ..context.audit(
            Action::OrganizationCreated,
            &made.id,
            &json!({"name": name}),
        )
    };
    till_store::audit::insert(tx, &[event]).await?;
    let all = till_store::members::of_user(tx, &user.id).await?;
    let own = all.iter().find(|of| of.account == made.id);
    let own = own.ok_or_else(|| Fail::broken("a new organisation is missing"))?;
    Ok(NewOrganizationView {
        organization: organizations::view(own),
        test: TestKeysView {
            secret_key: made.test.secret_key,
            publishable_key: made.test.publishable_key,
            webhook_secret: made.test.webhook_secret,
        },
    })
}
