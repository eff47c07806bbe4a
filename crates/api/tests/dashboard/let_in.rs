//! What was let in is done by what is so when it is written: of passkeys, and of API keys.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::id::IdKind;
use till_core::role::Role;
use till_store::passkeys::{self, PasskeyRow};
use till_store::{StoreError, Tx};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::browser::{Browser, member, owner};
use crate::given::user_of;
use crate::harness::{Call, Reply, Till, data, id, text, until};
use crate::totp::enable;

/// A request that was let in and waits for the last byte of its body.
struct LetIn {
    socket: TcpStream,
    last: u8,
    path: String,
}

/// Sends a request but for its last byte. It was let in once its idempotency key is in use: where the question was faster,
/// that one was done instead, and another key is tried.
async fn let_in(call: impl Fn() -> Call) -> LetIn {
    let tries = std::cell::Cell::new(0);
    until("the request to be let in", || async {
        tries.set(tries.get() + 1);
        let key = format!("let-in-{}", tries.get());
        let path = call().path;
        let (socket, last) = call().once(&key).send_all_but_one().await;
        let is_in = call().once(&key).send().await.code() == "idempotency_key_in_use";
        is_in.then_some(LetIn { socket, last, path })
    })
    .await
}

impl LetIn {
    async fn finish(mut self) -> Reply {
        self.socket.write_u8(self.last).await.unwrap();
        let mut said = Vec::new();
        self.socket.read_to_end(&mut said).await.unwrap();
        Reply::parse(&said, &self.path)
    }
}

/// Gives whoever is signed in a passkey of this id.
async fn add_passkey(till: &Till, browser: &Browser, passkey: &str) {
    let row = &PasskeyRow {
        id: passkey.to_owned(),
        user_id: user_of(browser).await,
        credential_id: passkey.as_bytes().to_vec(),
        name: "key".to_owned(),
        credential: "{}".to_owned(),
        created_at: till.engine().clock.now_ms(),
        last_used_at: None,
        backed_up: false,
    };
    let added: Result<(), StoreError> = till
        .engine()
        .db
        .write(move |tx: &mut Tx| async move { passkeys::insert(tx, row).await }.scope_boxed())
        .await;
    added.unwrap();
}

async fn new_key(browser: &Browser, kind: &str) -> Value {
    let body = json!({ "kind": kind, "name": "shop" });
    browser.post("api_keys", body).await.ok(201)
}

/// Which invoices there are. Their addresses on the page change with the account's publishable keys.
async fn invoices(till: &Till) -> Vec<String> {
    let list = till.get("/v1/invoices?limit=100").await.ok(200);
    data(&list).iter().map(id).collect()
}

on_every_engine! {
    async fn a_passkey_that_was_added_meanwhile_must_say_yes(world: World) {
        let till = world.till().await;
        for what in ["begin", "setup", "remove"] {
            let browser = member(&till, &format!("{what}@example.com"), Role::Viewer).await;
            let passkey = till.engine().ids.make(IdKind::Passkey);
            let path = match what {
                "setup" => "totp/setup".to_owned(),
                "remove" => format!("passkeys/{passkey}/remove"),
                _ => "passkeys/begin".to_owned(),
            };
            let request = let_in(|| browser.call("POST", &path).json(&json!({}))).await;
            match what {
                // Whoever registers another is told which there are.
                "begin" => drop(browser.clone().register_passkey().await),
                _ => add_passkey(&till, &browser, &passkey).await,
            }
            request.finish().await.refused(403, "step_up_required", None);
        }
    }

    async fn codes_are_never_switched_off_without_a_code_or_a_yes(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        enable(&world, &owner).await;
        let request = let_in(|| owner.call("POST", "totp/disable").json(&json!({}))).await;
        add_passkey(&till, &owner, &till.engine().ids.make(IdKind::Passkey)).await;
        request.finish().await.refused(403, "step_up_required", None);
        assert_eq!(owner.get("user").await.ok(200)["totp_enabled"], true);
    }

    async fn a_yes_counts_only_while_its_passkey_is_there(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        let first = owner.register_passkey().await;
        owner.register_passkey().await;
        let yes = owner.confirm("totp/setup", &Value::Null).await;
        owner.confirmed(&format!("passkeys/{}/remove", id(&first)), Value::Null).await.ok(200);
        assert_eq!(data(&owner.get("passkeys").await.ok(200)).len(), 1);
        let set_up = || owner.call("POST", "totp/setup");
        set_up().header("till-confirmation", &yes).send().await.refused(403, "step_up_required", None);
        let yes = owner.clone().confirm("totp/setup", &Value::Null).await;
        assert!(yes.starts_with("cnf_"));
    }

    async fn a_key_that_was_revoked_meanwhile_does_nothing(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let invoice = json!({ "amount": "25.00", "currency": "USD" });
        let link = till.post("/v1/payment_links", json!({ "amount_type": "fixed", "currency": "USD", "amount": "5.00" })).await.ok(201);
        let order = format!("/v1/checkout/links/{}/invoices", text(&link["slug"]));
        for (kind, path, body) in [
            ("secret", "/v1/customers", json!({ "name": "Ada" })),
            ("secret", "/v1/invoices", invoice),
            ("publishable", &*order, json!({})),
        ] {
            let made = new_key(&owner, kind).await;
            let key = text(&made["key"]);
            let request = let_in(|| till.call("POST", path).key(&key).json(&body)).await;
            let before = invoices(&till).await;
            owner.act(&format!("api_keys/{}/revoke", id(&made))).await.ok(200);
            request.finish().await.refused(401, "api_key_invalid", None);
            assert_eq!(invoices(&till).await, before, "{path}");
        }
    }
}
