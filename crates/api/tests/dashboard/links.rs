//! Links to sign in with: mailed or made at the command line, used once, in the right browser, in time.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_engine::team::emails::Email;
use till_engine::team::{link_mails, links, users};
use till_store::link_mails::LinkMailRow;
use till_store::{Queries as _, Tx};

use crate::browser::{Browser, owner};
use crate::harness::{Setup, Till, data};

const MINUTE_S: i64 = 60;

/// The mails with links that wait to be sent, the oldest first: kind, address and link.
pub async fn mailed(till: &Till) -> Vec<(String, String, String)> {
    let sql = "SELECT id, kind, locale, content, expires_at, due_at, fence, attempts FROM link_mails ORDER BY id";
    let mut reader = till.engine().db.read().await.unwrap();
    let rows: Vec<LinkMailRow> = reader.all(sql, &[]).await.unwrap();
    let open = |row: LinkMailRow| {
        let content = link_mails::open(till.engine(), &row).unwrap();
        (row.kind, content.email, content.link)
    };
    rows.into_iter().map(open).collect()
}

pub fn token_of(link: &str, kind: &str) -> String {
    let start = format!("http://localhost:4242/dashboard/link#{kind}=");
    link.strip_prefix(&start).expect(link).to_owned()
}

fn with_mail() -> Setup {
    Setup {
        mail: true,
        ..Setup::default()
    }
}

/// Asks for a link as this browser, and gives back its token.
pub async fn link_for(till: &Till, browser: &mut Browser, email: &str) -> String {
    let reply = browser
        .post("sign_in/link", json!({ "email": email }))
        .await;
    assert_eq!(
        reply.ok(200),
        json!({ "object": "link_request", "status": "accepted" })
    );
    browser.take_cookie(&reply);
    token_of(&mailed(till).await.pop().unwrap().2, "sign_in")
}

on_every_engine! {
    async fn a_mailed_link_signs_in_once_where_it_was_asked_for(world: World) {
        let till = world.till_with(with_mail()).await;
        owner(&till).await;
        let mut fresh = Browser::new(&till);
        let token = link_for(&till, &mut fresh, "Owner@Example.com").await;
        let body = json!({ "token": token });
        Browser::new(&till).post("sign_in/link/confirm", body.clone()).await.refused(401, "magic_link_invalid", None);
        fresh.post("sign_up/confirm", body.clone()).await.refused(401, "signup_link_invalid", None);
        let reply = fresh.post("sign_in/link/confirm", body.clone()).await;
        let session = fresh.take_session(&reply);
        assert_eq!((&session["state"], &session["method"]), (&json!("active"), &json!("link")));
        assert_eq!(session["user"]["email_verified"], true);
        fresh.post("sign_in/link/confirm", body).await.refused(401, "magic_link_invalid", None);
        fresh.post("sign_in/link/confirm", json!({ "token": "none" })).await.refused(401, "magic_link_invalid", None);
        let old = link_for(&till, &mut fresh, "owner@example.com").await;
        let new = link_for(&till, &mut fresh, "owner@example.com").await;
        fresh.post("sign_in/link/confirm", json!({ "token": old })).await.refused(401, "magic_link_invalid", None);
        world.clock.advance_s(10 * MINUTE_S);
        fresh.post("sign_in/link/confirm", json!({ "token": new })).await.refused(401, "magic_link_invalid", None);
    }

    async fn a_browser_is_not_known_by_a_cookie_that_it_brought(world: World) {
        let till = world.till_with(with_mail()).await;
        owner(&till).await;
        let mut planted = Browser::new(&till);
        planted.known_as = Some("till_browser=planted".to_owned());
        let other = planted.clone();
        let token = link_for(&till, &mut planted, "owner@example.com").await;
        assert_ne!(planted.known_as, other.known_as);
        other.post("sign_in/link/confirm", json!({ "token": &token })).await.refused(401, "magic_link_invalid", None);
        planted.post("sign_in/link/confirm", json!({ "token": token })).await.ok(200);
    }

    async fn one_link_signs_in_once_under_concurrency(world: World) {
        let till = world.till_with(with_mail()).await;
        owner(&till).await;
        let mut fresh = Browser::new(&till);
        let token = link_for(&till, &mut fresh, "owner@example.com").await;
        let confirm = || fresh.post("sign_in/link/confirm", json!({ "token": &token }));
        let (one, two) = tokio::join!(confirm(), confirm());
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401]);
    }

    async fn an_unknown_address_is_answered_like_a_known_one(world: World) {
        let till = world.till_with(with_mail()).await;
        owner(&till).await;
        let fresh = Browser::new(&till);
        let known = fresh.post("sign_in/link", json!({ "email": "owner@example.com" })).await;
        let unknown = fresh.post("sign_in/link", json!({ "email": "nobody@example.com" })).await;
        assert_eq!((known.status, known.ok(200)), (unknown.status, unknown.ok(200)));
        let names = |reply: &crate::harness::Reply| reply.header("set-cookie").unwrap().split('=').next().unwrap().to_owned();
        assert_eq!(names(&known), names(&unknown));
        let cookie = unknown.header("set-cookie").unwrap();
        assert!(cookie.starts_with("till_browser=") && cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=3600"), "{cookie}");
        fresh.post("sign_in/link", json!({ "email": "@" })).await.refused(400, "email_invalid", "email");
        let silent = world.beside(&till, Setup::default()).await;
        Browser::new(&silent).post("sign_in/link", json!({ "email": "owner@example.com" })).await.refused(409, "feature_unavailable", None);
    }

    async fn known_and_unknown_addresses_leave_the_same_rows(world: World) {
        let till = world.till_with(with_mail()).await;
        owner(&till).await;
        let fresh = Browser::new(&till);
        let mut counts = Vec::new();
        for email in ["owner@example.com", "nobody@example.com"] {
            fresh.post("sign_in/link", json!({ "email": email })).await.ok(200);
            let mut reader = till.engine().db.read().await.unwrap();
            let sql = "SELECT (SELECT COUNT(*) FROM sign_in_links), (SELECT COUNT(*) FROM attempts)";
            let counted: Option<(i64, i64)> = reader.one(sql, &[]).await.unwrap();
            counts.push(counted.unwrap());
        }
        assert_eq!(counts, [(1, 2), (2, 4)]);
    }

    async fn a_link_goes_to_the_address_as_its_user_wrote_it(world: World) {
        let till = world.till_with(with_mail()).await;
        owner(&till).await;
        link_for(&till, &mut Browser::new(&till), "OWNER@example.com").await;
        assert_eq!(mailed(&till).await.pop().unwrap().1, "owner@example.com");
    }

    async fn no_more_links_are_mailed_at_once_than_one_after_the_other(world: World) {
        let till = world.till_with(with_mail()).await;
        let fresh = Browser::new(&till);
        let ask = || { let fresh = &fresh; async move { fresh.post("sign_in/link", json!({ "email": "a@example.com" })).await.status } };
        let answered = futures::future::join_all((0..12).map(|_| ask())).await;
        assert_eq!(answered.iter().filter(|status| **status == 200).count(), 5, "{answered:?}");
    }

    async fn links_are_limited_by_address_and_client(world: World) {
        let till = world.till_with(with_mail()).await;
        let fresh = Browser::new(&till);
        let ask = |email: String| { let fresh = &fresh; async move { fresh.post("sign_in/link", json!({ "email": email })).await } };
        for _ in 0..5 {
            ask("a@example.com".to_owned()).await.ok(200);
        }
        let refused = ask("A@example.com".to_owned()).await;
        refused.refused(429, "too_many_attempts", None);
        assert!(refused.header("retry-after").is_some());
        for n in 0..15 {
            ask(format!("n{n}@example.com")).await.ok(200);
        }
        ask("other@example.com".to_owned()).await.refused(429, "too_many_attempts", None);
        world.clock.advance_s(61 * MINUTE_S);
        ask("a@example.com".to_owned()).await.ok(200);
    }

    async fn many_wrong_tokens_lock_the_client_out(world: World) {
        let till = world.till().await;
        let fresh = Browser::new(&till);
        for n in 0..20 {
            let path = ["sign_in/link/confirm", "sign_up/confirm", "invites/open", "invites/accept"][n % 4];
            assert_eq!(fresh.post(path, json!({ "token": "wrong" })).await.status, 401);
        }
        for path in ["sign_in/link/confirm", "sign_up/confirm", "invites/open", "invites/accept"] {
            fresh.post(path, json!({ "token": "wrong" })).await.refused(429, "too_many_attempts", None);
        }
    }

    async fn a_link_of_the_command_line_works_in_any_browser(world: World) {
        let till = world.till().await;
        let known = owner(&till).await;
        let engine = till.engine();
        let made = engine.db.write(move |tx: &mut Tx| {
            async move {
                let email = Email::parse("owner@example.com")?;
                let user = users::by_email(engine, tx, &email).await?.unwrap();
                links::create_cli_link(tx, engine, &user).await
            }
            .scope_boxed()
        });
        let link = made.await.unwrap().link;
        let mut fresh = Browser::new(&till);
        let reply = fresh.post("sign_in/link/confirm", json!({ "token": token_of(&link, "sign_in") })).await;
        let session = fresh.take_session(&reply);
        assert_eq!(session["method"], "cli");
        assert_eq!(session["user"]["email_verified"], false);
        assert_eq!(data(&known.get("sessions").await.ok(200)).len(), 2);
    }
}
