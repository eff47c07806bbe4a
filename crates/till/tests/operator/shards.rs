//! Two installations behind one address, each with a PostgreSQL server of its own, and HAProxy in front with the configuration that
//! is shipped.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::failover::{Cluster, folder};
use crate::common::{Client, Place, Reply, Server, read_reply, text, until};

const CONFIG: &str = "../../packaging/haproxy/shards.cfg";
const MAP: &str = "../../packaging/haproxy/shards.map";

/// HAProxy on a free port. Killed when dropped.
struct Router {
    child: Child,
    address: String,
}

impl Router {
    /// Nothing without HAProxy's program.
    fn start(a: &str, b: &str) -> Option<Router> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/usr/local/sbin";
        let child = Command::new("haproxy")
            .args(["-q", "-db", "-f", CONFIG])
            .env("PATH", path)
            .env("TILL_ROUTER", &address)
            .env("TILL_SHARD_A", a)
            .env("TILL_SHARD_B", b)
            .env("TILL_SHARDS_MAP", MAP)
            .stdin(Stdio::null())
            .spawn();
        let child = match child {
            Ok(child) => child,
            Err(error) => {
                let required = std::env::var("TILL_REQUIRE_POSTGRES").is_ok_and(|it| it == "1");
                assert!(!required, "haproxy: {error}");
                eprintln!("skipped: haproxy is not installed");
                return None;
            }
        };
        let router = Router { child, address };
        until("the router reaches both", || {
            let ready = router.client("").get("/readyz");
            let of_b = router.client("till_test_sk_b_x").get("/v1/invoices");
            ready.is_ok_and(|it| it.status == 200) && of_b.is_ok_and(|it| it.status == 401)
        });
        Some(router)
    }

    fn client(&self, key: &str) -> Client {
        Client::new(&self.address, key)
    }

    fn get(&self, path: &str, more: &str) -> Reply {
        ask(&self.address, "GET", path, more)
    }
}

/// A request with these header lines alone: [`Client`] always sends an Authorization header.
fn ask(address: &str, method: &str, path: &str, more: &str) -> Reply {
    let mut stream = Client::new(address, "").connect().unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: till\r\n{more}connection: close\r\n\r\n");
    std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
    read_reply(&mut stream).unwrap()
}

impl Drop for Router {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An installation, and an account of it.
struct Shard {
    _place: Place,
    server: Server,
    account: Value,
}

impl Shard {
    fn open(cluster: &Cluster, name: Option<&str>) -> Shard {
        let place = Place::new();
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", cluster.port);
        let mut settings = vec!["--database".to_owned(), url];
        let name = name.map(|name| format!("server.shard={name}"));
        settings.extend(name.into_iter().flat_map(|it| ["--set".to_owned(), it]));
        let words: Vec<&str> = settings.iter().map(String::as_str).collect();
        let account = place.account(&words);
        let trusted = ["--set", "limits.trusted_proxies=127.0.0.1"];
        Shard {
            server: place.serve(&[&words[..], &trusted].concat()),
            _place: place,
            account,
        }
    }

    fn secret_key(&self) -> &str {
        text(&self.account, "/test/secret_key")
    }

    fn publishable_key(&self) -> &str {
        text(&self.account, "/test/publishable_key")
    }
}

fn new_cluster(folder: &TempDir) -> Option<Cluster> {
    let cluster = Cluster::new(folder.path())?;
    cluster.start("-c fsync=off");
    Some(cluster)
}

/// Two installations, the second of which is called b, and the router. The fields are dropped in this order: a database is stopped
/// before its folder is deleted.
struct Installations {
    router: Router,
    shards: [Shard; 2],
    _clusters: [Cluster; 2],
    _folders: [TempDir; 2],
}

impl Installations {
    /// Nothing without PostgreSQL's programs or HAProxy's.
    fn open() -> Option<Installations> {
        let folders = [folder(), folder()];
        let clusters = [new_cluster(&folders[0])?, new_cluster(&folders[1])?];
        let shards = [
            Shard::open(&clusters[0], None),
            Shard::open(&clusters[1], Some("b")),
        ];
        let router = Router::start(&shards[0].server.address, &shards[1].server.address)?;
        Some(Installations {
            router,
            shards,
            _clusters: clusters,
            _folders: folders,
        })
    }
}

#[test]
fn two_installations_behind_one_address_each_answer_for_their_own_accounts() {
    let Some(installations) = Installations::open() else {
        return;
    };
    let (router, shards) = (&installations.router, installations.shards);
    assert!(shards[1].secret_key().starts_with("till_test_sk_b_"));
    assert!(shards[1].publishable_key().starts_with("till_test_pk_b_"));
    let mut invoices = Vec::new();
    for (shard, other) in [(0, 1), (1, 0)].map(|(one, other)| (&shards[one], &shards[other])) {
        invoices.push(everything_of(router, shard));
        // It is its own installation's alone.
        let refused = other.server.client(shard.secret_key()).get("/v1/invoices");
        let refused = refused.unwrap().expect(401);
        assert_eq!(text(&refused, "/error/code"), "api_key_invalid");
    }
    // What nobody made goes to the first, which does not know it. A key without a name is the first's, however it begins.
    for key in ["till_test_sk_bc", "till_test_sk_c_x", "till_test_sk_b_"] {
        router.client(key).get("/v1/invoices").unwrap().expect(401);
    }
    one_is_gone(router, shards, &invoices);
}

#[test]
fn either_of_two_installations_answers_what_needs_no_credential() {
    let Some(installations) = Installations::open() else {
        return;
    };
    let (router, [first, second]) = (&installations.router, installations.shards);
    let invoice = everything_of(router, &second);
    what_needs_no_credential(router);
    let merchant = router.client(first.secret_key());
    first.server.stop();
    until("the first cannot be reached", || {
        merchant.get("/v1/invoices").unwrap().status == 503
    });
    what_needs_no_credential(router);
    let key = second.publishable_key();
    let page = router.get(&format!("/checkout/i/{invoice}?key={key}"), "");
    assert_eq!(page.status, 200);
    let shown = router.get(&format!("/v1/checkout/invoices/{invoice}?key={key}"), "");
    assert_eq!(text(&shown.expect(200), "/id"), invoice);
    // The second has no sessions and no ledger keys of the first.
    for path in [
        "/dashboard",
        "/v1/dashboard/session",
        "/.well-known/till-ledger.json",
    ] {
        assert_eq!(router.get(path, "").status, 503, "{path}");
    }
    let session = router.get("/v1/invoices", "cookie: till_session=x\r\n");
    assert_eq!(session.status, 503);
}

/// Asks, without an Authorization header, for what every installation answers alike.
fn what_needs_no_credential(router: &Router) {
    for path in [
        "/docs",
        "/healthz",
        "/pay/style.css",
        "/checkout/config.json",
        "/checkout/r/x",
        "/checkout/r/b_x",
    ] {
        assert_eq!(router.get(path, "").status, 200, "{path}");
    }
    // Without its pages the program says so in place of a page.
    let page = String::from_utf8(router.get("/checkout/r/b_x", "").body).unwrap();
    if !page.contains("make web") {
        let asset = page.split("../assets/").nth(1);
        let asset = asset.and_then(|it| it.split('"').next()).unwrap();
        let asset = format!("/checkout/assets/{asset}");
        for path in [asset.as_str(), "/checkout/till-button.js"] {
            assert_eq!(router.get(path, "").status, 200, "{path}");
        }
    }
    let preflight = "origin: https://shop.example\r\naccess-control-request-method: GET\r\n";
    for key in ["", "?key=till_test_pk_x", "?key=till_test_pk_b_x"] {
        let path = format!("/v1/checkout/invoices/x{key}");
        let reply = ask(&router.address, "OPTIONS", &path, preflight);
        assert_eq!(reply.status, 204, "{path}");
        assert!(reply.header("access-control-allow-methods").is_some());
    }
    for (path, more, code) in [
        ("/v1/invoices", "", "api_key_missing"),
        ("/v1/invoices?key=", "", "api_key_missing"),
        (
            "/v1/invoices",
            "authorization: Basic !!!\r\n",
            "authorization_header_invalid",
        ),
        (
            "/v1/invoices",
            "authorization: Bearer \r\n",
            "authorization_header_invalid",
        ),
    ] {
        let refused = router.get(path, more).expect(401);
        assert_eq!(text(&refused, "/error/code"), code, "{path} {more}");
    }
    // Also a key where no key belongs is answered by Till.
    for key in ["till_test_sk_x", "till_test_sk_b_x"] {
        let refused = router.get(&format!("/v1/invoices/{key}"), "");
        let code = refused.json()["error"]["code"].clone();
        assert_eq!(code, "secret_key_in_url", "{key}");
    }
}

/// What a merchant and a payer ask for, in each way in which a credential can come. Answers the invoice.
fn everything_of(router: &Router, shard: &Shard) -> String {
    let merchant = router.client(shard.secret_key());
    let body = json!({ "amount": "20", "currency": "USD", "assets": ["USDC@eip155:84532"] });
    let made = merchant.post("/v1/invoices", "one", &body).unwrap();
    let made = made.expect(201);
    let again = merchant.post("/v1/invoices", "one", &body).unwrap();
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let invoice = text(&made, "/id").to_owned();
    let (path, key) = (format!("/v1/invoices/{invoice}"), shard.publishable_key());
    let direct = shard.server.client(shard.secret_key()).get(&path).unwrap();
    assert_eq!(direct.expect(200)["id"], made["id"]);
    let basic = STANDARD.encode(format!("{}:", shard.secret_key()));
    for basic in [&*basic, basic.trim_end_matches('=')] {
        let basic = format!("authorization: Basic {basic}\r\n");
        assert_eq!(router.get(&path, &basic).expect(200)["id"], made["id"]);
    }
    let shown = router.get(&format!("/v1/checkout/invoices/{invoice}?key={key}"), "");
    assert_eq!(shown.expect(200)["id"], made["id"]);
    let path_of_config = format!("/checkout/config.json?key={key}");
    let pins = |config: Reply| config.expect(200)["destinations"].clone();
    let own = pins(ask(&shard.server.address, "GET", &path_of_config, ""));
    assert_eq!(pins(router.get(&path_of_config, "")), own);
    let paid = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
    let more = json!({ "amount": "25" });
    let paid = merchant.post(&paid, "paid", &more).unwrap().expect(200);
    assert_eq!(paid["status"], "overpaid");
    let refund = merchant.post(&format!("{path}/refunds"), "refund", &json!({}));
    let refund = refund.unwrap().expect(201);
    let token = text(&refund, "/claim_token");
    // Whoever claims has nothing but the token.
    let claim = router.get(&format!("/v1/refund_claims/{token}"), "");
    assert_eq!(claim.expect(200)["amount"], refund["amount"]);
    let by_token = format!("x-refund-claim: {token}\r\n");
    assert_eq!(pins(router.get("/checkout/config.json", &by_token)), own);
    let listed = merchant.get("/v1/invoices").unwrap().expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    invoice
}

/// Where one installation cannot be reached its own merchants are told so, and nobody else notices.
fn one_is_gone(router: &Router, shards: [Shard; 2], invoices: &[String]) {
    let [first, second] = shards;
    let [of_first, of_second] = [&first, &second].map(|it| router.client(it.secret_key()));
    second.server.stop();
    until("the second cannot be reached", || {
        of_second.get("/v1/invoices").unwrap().status == 503
    });
    let refused = of_second.get("/v1/invoices").unwrap();
    assert!(refused.header("retry-after").is_some());
    assert_eq!(text(&refused.json(), "/error/code"), "service_unavailable");
    what_needs_no_credential(router);
    let path = format!("/v1/invoices/{}", invoices[0]);
    of_first.get(&path).unwrap().expect(200);
}
