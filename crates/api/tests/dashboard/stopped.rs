//! Organisations that are disabled or lose live mode: what they had under way ends with it.

use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::{Actor, Origin};
use till_core::error::Code;
use till_core::role::{Permission, Role};
use till_core::scope::Credential;
use till_engine::once::Once;
use till_engine::team::applications;
use till_engine::team::unit::{Confirmation, Needs, NeedsYes, SignedRequest};
use till_engine::{Answer, Fail};
use till_store::{StoreError, Tx};

use crate::browser::{Browser, member, owner};
use crate::changes::{FIRST, SECOND, ask_live, destination, later, paid_to, told};
use crate::confirmed::operate;
use crate::given::{give_passkey, user_of};
use crate::harness::{LIVE_USDC, Till, data, id, live, until};
use crate::operator::operator;

const DAY_S: i64 = 86_400;

/// An owner whose live destination waits to be changed from the first address to the second.
async fn with_waiting_change(till: &Till) -> (Browser, Value) {
    let owner = owner(till).await.in_mode("live");
    give_passkey(till, &owner).await;
    ask_live(till, &owner, &destination(FIRST)).await.ok(201);
    let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
    let call = till.posting("/v1/invoices", body).key(till.live_key());
    call.send().await.ok(201);
    let change = ask_live(till, &owner, &destination(SECOND)).await.ok(201);
    assert_eq!(change["status"], "pending");
    (owner, change)
}

async fn set_disabled(till: &Till, at: Option<i64>) {
    let account = &*till.account.id;
    let set: Result<(), StoreError> = till
        .engine()
        .db
        .write(move |tx: &mut Tx| {
            async move { till_store::accounts::set_disabled(tx, account, at, None).await }
                .scope_boxed()
        })
        .await;
    set.unwrap();
}

/// Somebody who comes later, with a session that is good.
async fn newcomer(till: &Till) -> Browser {
    let browser = member(till, "later@example.com", Role::Owner).await;
    give_passkey(till, &browser).await;
    browser.in_mode("live")
}

async fn is_stopped(till: &Till, browser: &Browser, change: &Value) {
    let path = format!("changes/{}", id(change));
    let now = browser.get(&path).await.ok(200);
    assert_eq!(
        (&now["status"], &now["cancelled_by"]),
        (&json!("cancelled"), &Value::Null)
    );
    let path = format!("audit_events?action=change.cancelled&target={}", id(change));
    let logged = data(&browser.get(&path).await.ok(200));
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0]["actor"]["type"], "system");
    let about = told(till, browser, &id(change)).await;
    assert!(about.is_empty() || about == ["change.requested", "change.cancelled"]);
}

/// What a unit of work answers that was asked for before, by a request that was let in then.
async fn commit(
    till: &Till,
    browser: &Browser,
    mode: Option<till_core::asset::Mode>,
) -> Option<Code> {
    let session = browser.get("session").await.ok(200);
    let user: Arc<str> = user_of(browser).await.into();
    let asked = SignedRequest {
        user: Arc::clone(&user),
        session: id(&session).into(),
        account: Some(till.account.id.as_str().into()),
        mode,
        needs: Needs::Permission(Permission::Read),
        origin: Origin::default(),
        confirmation: Confirmation {
            id: None,
            path: "/".to_owned(),
            body_hash: [0; 32],
        },
    };
    let once = Once::new(
        Actor::Member(user),
        Credential::User,
        till.engine().ids.make(till_core::id::IdKind::Request),
        "POST",
        "/",
        b"",
    );
    let done = till
        .engine()
        .once_by_user(&asked, NeedsYes::No, &once, |_, _| {
            async { Ok(Answer::new(200, String::new())) }.scope_boxed()
        });
    match done.await {
        Ok(_) => None,
        Err(Fail::Refused(refusal)) => Some(refusal.code),
        Err(other) => panic!("{other:?}"),
    }
}

on_every_engine! {
    async fn disabling_an_organisation_ends_its_changes(world: World) {
        let till = world.till_with(live()).await;
        let (owner, change) = with_waiting_change(&till).await;
        let in_test = owner.in_mode("test").post("changes", later(destination(FIRST), DAY_S)).await.ok(201);
        let operator = operator(&till).await;
        let path = |what: &str| format!("operator/organizations/{}/{what}", till.account.id);
        operate(&till, &operator, &path("disable"), Some(json!({ "reason": "Stolen goods." }))).await.ok(200);
        owner.act(&format!("changes/{}/cancel", id(&change))).await.refused(403, "account_disabled", None);
        operate(&till, &operator, &path("enable"), None).await.ok(200);
        world.clock.age_s(60);
        is_stopped(&till, &owner, &change).await;
        is_stopped(&till, &owner.in_mode("test"), &in_test).await;
        assert_eq!(told(&till, &owner, &id(&change)).await, ["change.requested", "change.cancelled"]);
        world.clock.advance_s(DAY_S);
        let owner = newcomer(&till).await;
        assert_eq!(paid_to(&owner).await, FIRST);
        let again = ask_live(&till, &owner, &destination(SECOND)).await.ok(201);
        assert_eq!(again["status"], "pending", "a full delay starts anew");
    }

    async fn taking_live_mode_away_ends_its_live_changes(world: World) {
        let till = world.till_with(live()).await;
        let (owner, change) = with_waiting_change(&till).await;
        let in_test = owner.in_mode("test").post("changes", later(destination(FIRST), DAY_S)).await.ok(201);
        let decide = |is_approved| applications::decide_at_command_line(till.engine(), &till.account.id, is_approved);
        decide(false).await.unwrap();
        owner.act(&format!("changes/{}/cancel", id(&change))).await.refused(409, "application_not_approved", None);
        decide(true).await.unwrap();
        is_stopped(&till, &owner, &change).await;
        let test = owner.in_mode("test").get(&format!("changes/{}", id(&in_test))).await.ok(200);
        assert_eq!(test["status"], "pending");
        assert_eq!(paid_to(&owner).await, FIRST);
    }

    async fn no_change_takes_effect_while_its_organisation_is_disabled(world: World) {
        let till = world.till_with(live()).await;
        let (_, change) = with_waiting_change(&till).await;
        set_disabled(&till, Some(1)).await;
        world.clock.advance_s(DAY_S);
        until("the change to end", || async {
            let mut reader = till.engine().db.read().await.unwrap();
            let found = till_store::changes::find(&mut reader, &till.live_scope(), &id(&change)).await.unwrap();
            (found.unwrap().status == till_core::change::ChangeStatus::Cancelled).then_some(())
        })
        .await;
        set_disabled(&till, None).await;
        let owner = newcomer(&till).await;
        is_stopped(&till, &owner, &change).await;
        assert_eq!(paid_to(&owner).await, FIRST);
    }

    async fn what_was_let_in_before_is_asked_again_when_it_is_written(world: World) {
        let till = world.till_with(live()).await;
        let owner = owner(&till).await;
        let live_mode = Some(till_core::asset::Mode::Live);
        assert_eq!(commit(&till, &owner, live_mode).await, None);
        applications::decide_at_command_line(till.engine(), &till.account.id, false).await.unwrap();
        assert_eq!(commit(&till, &owner, live_mode).await, Some(Code::ApplicationNotApproved));
        assert_eq!(commit(&till, &owner, None).await, None);
        set_disabled(&till, Some(1)).await;
        assert_eq!(commit(&till, &owner, None).await, Some(Code::AccountDisabled));
    }
}
