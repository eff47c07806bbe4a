//! People let in, helped and stopped at the shell.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};
use till_store::testing::{Dialect, fresh};

use crate::common::{Place, Server, text};

/// Accepts an invitation by its link, as a browser at the dashboard does.
fn accept(server: &Server, link: &str) -> (u16, Value) {
    let (_, token) = link.split_once("#invite=").unwrap();
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let body = json!({ "token": token }).to_string();
    let head = format!(
        "POST /v1/dashboard/invites/accept HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:{port}\r\n\
         idempotency-key: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        &token[..8],
        body.len()
    );
    let mut stream = server.client("").connect().unwrap();
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    let status = said.split(' ').nth(1).unwrap().parse().unwrap();
    let (_, body) = said.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap())
}

fn people_are_let_in_from_the_shell(place: &Place, database: &[&str]) {
    let till = |args: &[&str]| place.till(&[args, database].concat());
    let owner = ["--owner", "ada@example.com", "--operator"];
    let account = place.account(&[&owner[..], database].concat());
    let id = text(&account, "/account");
    let link = text(&account, "/dashboard_link");
    let at = "http://localhost:4242/dashboard/link#invite=";
    assert!(link.starts_with(at), "{link}");
    let server = place.serve(database);
    let (status, session) = accept(&server, link);
    assert_eq!(status, 200, "{session}");
    assert_eq!(session["user"]["operator"], true);
    assert_eq!(session["organizations"][0]["role"], "owner");

    let invite = |email: &str, more: &[&str]| {
        let of = ["account", "invite", "--account", id, "--email", email];
        till(&[&of[..], more].concat())
    };
    let made = invite("bob@example.com", &["--role", "viewer", "--json"]).json();
    assert!(text(&made, "/invite").starts_with("ivt_"));
    assert!(made["expires_at"].is_string());
    let (status, session) = accept(&server, text(&made, "/link"));
    assert_eq!((status, &session["user"]["operator"]), (200, &json!(false)));
    let line = invite("Ada@Example.com", &[]).fails(1);
    assert!(line.contains("already a member"), "{line}");
    assert_eq!(invite("nobody", &[]).status, Some(2));
    let line = till(&[
        "account",
        "invite",
        "--account",
        "acct_x",
        "--email",
        "a@example.com",
    ])
    .fails(1);
    assert!(line.contains("there is no account"), "{line}");

    let person = |what: &[&str], email: &str| till(&[what, &["--email", email, "--json"]].concat());
    for what in [
        &["operator", "create"],
        &["user", "link"],
        &["user", "reset"],
    ] {
        let made = person(what, "bob@example.com").json();
        assert_eq!(made["user"], session["user"]["id"]);
        let link = text(&made, "/link");
        assert!(link.contains("/dashboard/link#sign_in="), "{link}");
    }
    let line = person(&["user", "link"], "eve@example.com").fails(1);
    assert!(line.contains("nobody") && !line.contains("eve"), "{line}");
    let removed = till(&["operator", "remove", "--email", "bob@example.com"]).ok();
    assert_eq!(removed.stdout, "no operator any more\n");
    person(&["operator", "create"], "new@example.com").json();
    server.stop();
}

#[test]
fn an_invitation_to_a_disabled_account_is_printed_with_a_warning() {
    let place = Place::new();
    let account = place.account(&[]);
    let id = text(&account, "/account");
    let of_account = |command: &str, more: &[&str]| {
        let args = ["account", command, "--account", id];
        place.till(&[&args[..], more].concat()).ok()
    };
    let invite = |email: &str| of_account("invite", &["--email", email, "--json"]);
    assert_eq!(invite("ada@example.com").stderr, "");
    of_account("disable", &[]);
    let invited = invite("bob@example.com");
    assert!(
        invited.stderr.contains("this account is disabled") && invited.stderr.contains(id),
        "{}",
        invited.stderr
    );
    assert!(text(&invited.json(), "/link").contains("#invite="));
    of_account("enable", &[]);
    assert_eq!(invite("eve@example.com").stderr, "");
}

#[test]
fn people_are_let_in_from_the_shell_on_sqlite() {
    people_are_let_in_from_the_shell(&Place::new(), &[]);
}

#[test]
fn people_are_let_in_from_the_shell_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    people_are_let_in_from_the_shell(&Place::new(), &["--database", &test.config.url]);
    runtime.block_on(test.remove());
}

#[test]
fn live_mode_is_given_and_taken_at_the_shell() {
    let place = Place::new();
    let destination = "eip155=0x8617E340B3D01FA5F11F306F4090FD50E238070D";
    let account = place.account(&["--live", "--destination", destination]);
    let id = text(&account, "/account");
    let server = place.serve(&["--set", "server.live_mode=true"]);
    let client = server.client(text(&account, "/live/secret_key"));
    client.get("/v1/invoices").unwrap().expect(200);
    let live = |what: &str, id: &str| place.till(&["live", what, "--account", id]);
    live("disable", id).ok();
    let refused = client.get("/v1/invoices").unwrap().expect(409);
    assert_eq!(text(&refused, "/error/code"), "mode_not_configured");
    let test = server.client(text(&account, "/test/secret_key"));
    test.get("/v1/invoices").unwrap().expect(200);
    let again = live("disable", id).ok();
    assert!(again.stdout.contains("anyway"), "{}", again.stdout);
    let enabled = live("enable", id).ok();
    assert!(
        enabled.stderr.contains("server.live_mode is false"),
        "{}",
        enabled.stderr
    );
    client.get("/v1/invoices").unwrap().expect(200);
    let line = live("disable", "acct_x").fails(1);
    assert!(line.contains("there is no account"), "{line}");
    server.stop();
}
