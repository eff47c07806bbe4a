//! New organisations, made by those who own them.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::role::Role;
use till_store::Tx;
use till_store::audit::AuditRow;
use till_store::members::MemberRow;

use super::organizations;
use super::unit::TeamContext;
use super::users;
use crate::base::fail::Fail;
use crate::base::{Engine, Signup};
use crate::merchants::accounts::{Modes, create_in};
use crate::view::{NewOrganizationView, TestKeysView};

/// Whether a user may make organisations: anybody where anybody may sign up, operators everywhere.
pub fn may_found(engine: &Engine, is_operator: bool) -> Result<(), Refusal> {
    match is_operator || engine.config.dashboard.signup == Signup::Open {
        true => Ok(()),
        false => Err(Refusal::of(Code::PermissionDenied)),
    }
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
    let made = create_in(tx, engine, name, Modes::TestOnly, &[]).await?;
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
