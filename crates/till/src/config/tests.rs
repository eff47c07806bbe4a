//! Every rule of the configuration, through its one door.

mod refused;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

fn load(file: &str, env: &[(&str, &str)], flags: &Flags) -> Result<Config, ConfigError> {
    let env = env
        .iter()
        .map(|(name, text)| (name.to_string(), text.to_string()));
    Config::load(Some(file), env, flags)
}

fn from_file(file: &str) -> Config {
    load(file, &[], &Flags::default()).unwrap()
}

fn from_env(env: &[(&str, &str)]) -> Config {
    load("", env, &Flags::default()).unwrap()
}

fn set(given: &[&str]) -> Flags {
    let set = given.iter().map(|text| text.to_string()).collect();
    Flags {
        set,
        ..Flags::default()
    }
}

fn check_error(file: &str, env: &[(&str, &str)], flags: &Flags, expected: &str) {
    let error = load(file, env, flags).unwrap_err().to_string();
    assert_eq!(error, expected);
    assert!(!error.contains('\n'), "more than one line: {error}");
}

fn check_file_error(file: &str, expected: &str) {
    check_error(file, &[], &Flags::default(), expected);
}

fn pairs(given: &[(&str, &str)]) -> BTreeMap<String, String> {
    let own = |(pair, price): &(&str, &str)| (pair.to_string(), price.to_string());
    given.iter().map(own).collect()
}

#[test]
fn without_anything_the_documented_defaults_apply() {
    let config = Config::load(None, std::iter::empty(), &Flags::default()).unwrap();
    let expected = Config {
        server: Server {
            listen: "127.0.0.1:4242".parse().unwrap(),
            public_url: None,
            checkout_url: None,
            docs_url: None,
            shard: None,
            live_mode: false,
            tls_certificate: None,
            tls_key: None,
            drain_s: 5,
            slow_reader_s: 60,
        },
        database: Database {
            url: "sqlite:till.db".into(),
            readers: 8,
            writers: 8,
            transaction_pooler: false,
            replicas: vec![],
        },
        secrets: Secrets { key_file: vec![] },
        webhooks: Webhooks {
            allow_private_addresses: false,
            trusted_certificates: vec![],
        },
        limits: Limits {
            checkout_per_minute: 60,
            trusted_proxies: vec![],
            open_link_invoices_per_client: 5,
            picked_link_invoices_per_client: 2,
            connections: 20_000,
            connections_per_client: 500,
            streams_per_client: 100,
        },
        mail: Mail {
            smtp_url: None,
            from: None,
        },
        prices: Prices {
            fixed: FixedPrices {
                test: pairs(&[("BTC/USD", "50000")]),
                live: pairs(&[]),
            },
            max_age_s: 120,
            sources: vec![],
            min_sources: 2,
            max_spread_bps: 100,
        },
        addresses: Addresses {
            pool_max: 1_000_000,
            cooldown_h: 168,
            unpaid_cooldown_h: 24,
            bitcoin_gap_limit: 20,
        },
        invoices: Invoices {
            life_min: 60,
            volatile_life_min: 15,
            volatile_rest_min: 60,
            select_min: 30,
            expiry_wait_s: 600,
        },
        subscriptions: Subscriptions { attempt_days: 3 },
        wallets: Wallets {
            require_proof: false,
        },
        screening: Screening {
            lists: vec![],
            refresh_h: 12,
            max_age_h: 48,
            on_chain: true,
        },
        dashboard: Dashboard {
            enabled: true,
            url: None,
            signup: Signup::Invite,
            change_delay_s: 86_400,
            session_idle_s: 43_200,
            session_max_s: 604_800,
        },
        metrics: Metrics { listen: None },
        retention: Retention {
            deliveries_d: 90,
            events_d: 400,
            payer_contacts_d: 30,
        },
        log: Log {
            format: None,
            level: LogLevel::Info,
            client_address: ClientAddress::Prefix,
        },
        networks: BTreeMap::new(),
        unknown_variables: vec![],
    };
    assert_eq!(config, expected);
}

const FULL_FILE: &str = r#"
[server]
listen = "0.0.0.0:80"
public_url = "https://pay.example.com/"
checkout_url = "https://checkout.example.com"
docs_url = "https://docs.example.com/till/"
shard = "b"
live_mode = true
[database]
url = "postgres://till:hunter2@db/till"
replicas = ["postgres://till:hunter2@one/till", "postgres://two:5433/till"]
[secrets]
key_file = ["new.key", "old.key"]
[webhooks]
allow_private_addresses = true
trusted_certificates = ["ca.pem"]
[limits]
checkout_per_minute = 5
trusted_proxies = ["10.0.0.0/8", "::1"]
[mail]
smtp_url = "smtps://u:p@mail.example.com"
from = "till@example.com"
[prices]
fixed = { "BTC/USD" = "61000.50", "ETH/USD" = "3000" }
max_age_s = 7
[addresses]
pool_max = 3
cooldown_h = 1
unpaid_cooldown_h = 8
bitcoin_gap_limit = 2
[invoices]
life_min = 4
volatile_life_min = 5
volatile_rest_min = 7
select_min = 6
expiry_wait_s = 9
[subscriptions]
attempt_days = 9
[wallets]
require_proof = true
[networks."eip155:8453"]
rpc = ["https://one.example/key", "http://two.example"]
esplora = ["https://esplora.example/api"]
credit_at = "safe"
final_above = "1000.50"
final_depth = { "100" = 8 }
cookie_file = "/run/.cookie"
zmq = ["tcp://127.0.0.1:28332"]
quorum = 1
scan_from = 12345
[networks."solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]
credit_at = "included"
"#;

const FULL_SETTINGS: &[(&str, &str)] = &[
    ("server.listen", "0.0.0.0:80"),
    ("server.public_url", "https://pay.example.com/"),
    ("server.checkout_url", "https://checkout.example.com"),
    ("server.docs_url", "https://docs.example.com/till/"),
    ("server.shard", "b"),
    ("server.live_mode", "true"),
    ("database.url", "postgres://till:hunter2@db/till"),
    (
        "database.replicas",
        "postgres://till:hunter2@one/till,postgres://two:5433/till",
    ),
    ("secrets.key_file", "new.key,old.key"),
    ("webhooks.allow_private_addresses", "true"),
    ("webhooks.trusted_certificates", "[\"ca.pem\"]"),
    ("limits.checkout_per_minute", "5"),
    ("limits.trusted_proxies", "10.0.0.0/8, ::1"),
    ("mail.smtp_url", "smtps://u:p@mail.example.com"),
    ("mail.from", "till@example.com"),
    (
        "prices.fixed",
        r#"{"BTC/USD": "61000.50", "ETH/USD": "3000"}"#,
    ),
    ("prices.max_age_s", "7"),
    ("addresses.pool_max", "3"),
    ("addresses.cooldown_h", "1"),
    ("addresses.unpaid_cooldown_h", "8"),
    ("addresses.bitcoin_gap_limit", "2"),
    ("invoices.life_min", "4"),
    ("invoices.volatile_life_min", "5"),
    ("invoices.volatile_rest_min", "7"),
    ("invoices.select_min", "6"),
    ("invoices.expiry_wait_s", "9"),
    ("subscriptions.attempt_days", "9"),
    ("wallets.require_proof", "true"),
    (
        "networks.eip155:8453.rpc",
        "https://one.example/key,http://two.example",
    ),
    (
        "networks.eip155:8453.esplora",
        "https://esplora.example/api",
    ),
    ("networks.eip155:8453.credit_at", "safe"),
    ("networks.eip155:8453.final_above", "1000.50"),
    ("networks.eip155:8453.final_depth", "{ \"100\" = 8 }"),
    ("networks.eip155:8453.cookie_file", "/run/.cookie"),
    ("networks.eip155:8453.zmq", "tcp://127.0.0.1:28332"),
    ("networks.eip155:8453.quorum", "1"),
    ("networks.eip155:8453.scan_from", "12345"),
    (
        "networks.solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp.credit_at",
        "included",
    ),
];

#[test]
fn every_setting_can_be_given_in_each_of_the_three_ways() {
    let by_file = from_file(FULL_FILE);
    assert_eq!(
        by_file.server.public_url.as_deref(),
        Some("https://pay.example.com")
    );
    assert_eq!(by_file.limits.trusted_proxies[1].to_string(), "::1/128");
    assert_eq!(by_file.networks["eip155:8453"].rpc.len(), 2);
    assert_eq!(by_file.networks["eip155:8453"].credit_at, CreditAt::Safe);

    let as_variable = |(key, text): &(&str, &str)| {
        let name = format!("TILL_{}", key.replace(['.', ':'], "_").to_uppercase());
        (name, text.to_string())
    };
    let env = FULL_SETTINGS.iter().map(as_variable);
    let by_env = Config::load(None, env, &Flags::default()).unwrap();
    assert_eq!(by_env, by_file);

    let as_flag = |(key, text): &(&str, &str)| format!("{key}={text}");
    let flags = Flags {
        set: FULL_SETTINGS.iter().map(as_flag).collect(),
        ..Flags::default()
    };
    assert_eq!(load("", &[], &flags).unwrap(), by_file);
}

#[test]
fn flags_beat_environment_and_environment_beats_the_file() {
    let file = "server.listen = '127.0.0.1:1'\ninvoices.life_min = 11\ninvoices.select_min = 13";
    let env = [
        ("TILL_SERVER_LISTEN", "127.0.0.1:2"),
        ("TILL_INVOICES_LIFE_MIN", "12"),
    ];
    let flags = Flags {
        listen: Some("127.0.0.1:3".into()),
        ..Flags::default()
    };
    let config = load(file, &env, &flags).unwrap();
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.invoices.life_min, 12);
    assert_eq!(config.invoices.select_min, 13);
    assert_eq!(config.invoices.volatile_life_min, 15);
    assert_eq!(load(file, &env, &set(&[])).unwrap().server.listen.port(), 2);
    assert_eq!(from_file(file).server.listen.port(), 1);
}

#[test]
fn the_last_set_flag_wins_and_a_flag_of_its_own_beats_it() {
    let mut flags = set(&["database.url=sqlite:a.db", "database.url=sqlite:b.db"]);
    assert_eq!(load("", &[], &flags).unwrap().database.url, "sqlite:b.db");
    flags.database = Some("sqlite:c.db".into());
    assert_eq!(load("", &[], &flags).unwrap().database.url, "sqlite:c.db");
}

#[test]
fn a_stronger_layer_replaces_a_list_and_an_empty_text_takes_a_setting_away() {
    let config = load(
        FULL_FILE,
        &[
            ("TILL_LIMITS_TRUSTED_PROXIES", ""),
            ("TILL_NETWORKS_EIP155_8453_RPC", "https://three.example"),
            ("TILL_MAIL_SMTP_URL", ""),
            ("TILL_SERVER_PUBLIC_URL", ""),
        ],
        &Flags::default(),
    )
    .unwrap();
    assert!(config.limits.trusted_proxies.is_empty());
    assert_eq!(
        config.networks["eip155:8453"].rpc,
        ["https://three.example"]
    );
    assert_eq!(config.networks["eip155:8453"].credit_at, CreditAt::Safe);
    assert_eq!(config.mail.smtp_url, None);
    assert_eq!(config.server.public_url, None);
}

#[test]
fn a_network_variable_finds_the_id_whose_case_it_lost() {
    let config = load(
        "[networks.\"cosmos:Hub-4\"]\ncredit_at = 'safe'",
        &[
            ("TILL_NETWORKS_COSMOS_HUB_4_RPC", "https://hub.example"),
            ("TILL_NETWORKS_TRON_728126428_CREDIT_AT", "included"),
            (
                "TILL_NETWORKS_SOLANA_ETWTRABZAYQ6IMFEYKOURU166VU2XQA1_RPC",
                "https://sol.example",
            ),
        ],
        &Flags::default(),
    )
    .unwrap();
    let ids: Vec<_> = config.networks.keys().map(String::as_str).collect();
    let expected = [
        "cosmos:Hub-4",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        "tron:728126428",
    ];
    assert_eq!(ids, expected);
    assert_eq!(config.networks["cosmos:Hub-4"].credit_at, CreditAt::Safe);
    assert_eq!(config.networks["cosmos:Hub-4"].rpc, ["https://hub.example"]);
}

#[test]
fn the_default_price_is_for_test_mode_and_a_configured_one_for_both() {
    let config = from_env(&[("TILL_PRICES_FIXED", "{ \"ETH/USD\" = \"3000\" }")]);
    assert_eq!(config.prices.fixed.test, pairs(&[("ETH/USD", "3000")]));
    assert_eq!(config.prices.fixed.live, pairs(&[("ETH/USD", "3000")]));
    let none = from_env(&[("TILL_PRICES_FIXED", "{}")]);
    assert!(none.prices.fixed.test.is_empty());
}

#[test]
fn addresses_follow_the_port_that_was_really_bound() {
    let bound = "127.0.0.1:53211".parse().unwrap();
    let urls = from_file("server.listen = '127.0.0.1:0'").urls(bound);
    assert_eq!(urls.public, "http://127.0.0.1:53211");
    assert_eq!(urls.checkout, "http://127.0.0.1:53211/checkout");
    assert_eq!(urls.docs, "http://127.0.0.1:53211/docs");
}

#[test]
fn configured_addresses_stand_and_the_others_follow_the_public_one() {
    let bound = "127.0.0.1:1".parse().unwrap();
    let file = "server.public_url = 'https://pay.example.com/till//'\nserver.docs_url = 'https://d.example'";
    let urls = from_file(file).urls(bound);
    assert_eq!(urls.public, "https://pay.example.com/till");
    assert_eq!(urls.checkout, "https://pay.example.com/till/checkout");
    assert_eq!(urls.docs, "https://d.example");
}

#[test]
fn the_key_lies_beside_the_sqlite_file_or_in_the_working_directory() {
    let check = |database: &str, expected: &str| {
        let config = from_env(&[("TILL_DATABASE_URL", database)]);
        assert_eq!(config.key_files(), [PathBuf::from(expected)], "{database}");
    };
    check("sqlite:till.db", "till.key");
    check("sqlite:data/till.db", "data/till.key");
    check(
        "sqlite:///var/lib/till/till.db?mode=rwc",
        "/var/lib/till/till.key",
    );
    check("sqlite::memory:", "till.key");
    check("sqlite://:memory:", "till.key");
    check("postgres://db/till", "till.key");
    assert_eq!(from_file(FULL_FILE).key_files().len(), 2);
    let single = from_file("secrets.key_file = 'other.key'");
    assert_eq!(single.key_files(), [PathBuf::from("other.key")]);
}

#[test]
fn variables_of_the_tests_the_log_and_other_programs_are_not_settings() {
    let config = from_env(&[
        ("TILL_TEST_POSTGRES", "postgres://x"),
        ("TILL_REQUIRE_POSTGRES", "1"),
        ("TILL_LOG", "debug"),
        ("TILLER_HOST", "x"),
        ("HOME", "/"),
    ]);
    assert_eq!(config, from_env(&[]));
}

#[test]
fn a_logged_configuration_shows_no_password_and_no_provider_key() {
    let shown = format!("{:?}", from_file(FULL_FILE));
    for secret in ["hunter2", "u:p@", "one.example"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert!(shown.contains("postgres"));
}

#[test]
fn lists_are_given_in_the_file_and_in_the_environment() {
    let list = |name: &str, source: &str, format: &str| ScreeningList {
        name: name.to_owned(),
        source: source.to_owned(),
        format: format.to_owned(),
    };
    let url = "https://www.treasury.gov/ofac/downloads/sanctions/1.0/sdn_advanced.xml";
    let config = from_file(&format!(
        "[screening]\non_chain = false\n[[screening.lists]]\nname = 'ofac'\nsource = '{url}'\n\
         format = 'ofac_sdn_advanced'\n[[screening.lists]]\nname = 'own'\nsource = 'own.txt'\nformat = 'plain'\n"
    ));
    let expected = [
        list("ofac", url, "ofac_sdn_advanced"),
        list("own", "own.txt", "plain"),
    ];
    assert_eq!(config.screening.lists, expected);
    assert!(!config.screening.on_chain);
    let json = r#"[{"name": "own", "source": "own.txt", "format": "plain"}]"#;
    let config = from_env(&[("TILL_SCREENING_LISTS", json)]);
    assert_eq!(config.screening.lists, expected[1..]);
}
