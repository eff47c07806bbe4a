//! Every rule of the configuration, through its one door.

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
            live_mode: false,
        },
        database: Database {
            url: "sqlite:till.db".into(),
        },
        secrets: Secrets { key_file: vec![] },
        webhooks: Webhooks {
            allow_private_addresses: false,
            trusted_certificates: vec![],
        },
        limits: Limits {
            checkout_per_minute: 60,
            trusted_proxies: vec![],
        },
        mail: Mail {
            smtp_url: None,
            from: None,
        },
        prices: Prices {
            fixed_test: pairs(&[("BTC/USD", "50000")]),
            fixed_live: pairs(&[]),
            max_age_s: 120,
        },
        addresses: Addresses {
            pool_max: 1_000_000,
            cooldown_h: 168,
            bitcoin_gap_limit: 20,
        },
        invoices: Invoices {
            life_min: 60,
            volatile_life_min: 15,
            select_min: 30,
        },
        networks: BTreeMap::new(),
    };
    assert_eq!(config, expected);
}

const FULL_FILE: &str = r#"
[server]
listen = "0.0.0.0:80"
public_url = "https://pay.example.com/"
checkout_url = "https://checkout.example.com"
docs_url = "https://docs.example.com/till/"
live_mode = true
[database]
url = "postgres://till:hunter2@db/till"
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
bitcoin_gap_limit = 2
[invoices]
life_min = 4
volatile_life_min = 5
select_min = 6
[networks."eip155:8453"]
rpc = ["https://one.example/key", "http://two.example"]
credit_at = "safe"
[networks."solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]
credit_at = "included"
"#;

const FULL_SETTINGS: &[(&str, &str)] = &[
    ("server.listen", "0.0.0.0:80"),
    ("server.public_url", "https://pay.example.com/"),
    ("server.checkout_url", "https://checkout.example.com"),
    ("server.docs_url", "https://docs.example.com/till/"),
    ("server.live_mode", "true"),
    ("database.url", "postgres://till:hunter2@db/till"),
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
    ("addresses.bitcoin_gap_limit", "2"),
    ("invoices.life_min", "4"),
    ("invoices.volatile_life_min", "5"),
    ("invoices.select_min", "6"),
    (
        "networks.eip155:8453.rpc",
        "https://one.example/key,http://two.example",
    ),
    ("networks.eip155:8453.credit_at", "safe"),
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
    assert_eq!(config.prices.fixed_test, pairs(&[("ETH/USD", "3000")]));
    assert_eq!(config.prices.fixed_live, pairs(&[("ETH/USD", "3000")]));
    let none = from_env(&[("TILL_PRICES_FIXED", "{}")]);
    assert!(none.prices.fixed_test.is_empty());
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
fn an_unknown_key_is_named_with_what_exists_beside_it() {
    check_file_error(
        "[mail]\nsmtp = 'x'",
        "configuration file: unknown setting `mail.smtp`; mail has smtp_url, from",
    );
    check_file_error(
        "[maill]\nfrom = 'x'",
        "configuration file: unknown setting `maill`; the sections are server, database, secrets, \
         webhooks, limits, mail, prices, addresses, invoices, networks",
    );
    check_file_error(
        "[networks.'eip155:1']\nurl = 'x'",
        "configuration file: unknown setting `networks.\"eip155:1\".url`; networks has rpc, credit_at",
    );
    check_error(
        "",
        &[],
        &set(&["server.port=80"]),
        "--set: unknown setting `server.port`; server has listen, public_url, checkout_url, docs_url, live_mode",
    );
}

#[test]
fn an_unknown_variable_is_named_without_its_value() {
    for name in [
        "TILL_SERVER_PORT",
        "TILL_LOGS",
        "TILL_NETWORKS_EIP155_1_URL",
        "TILL_NETWORKS_RPC",
    ] {
        let expected =
            format!("environment: unknown variable {name}; variables are named TILL_SECTION_KEY");
        check_error("", &[(name, "hunter2")], &Flags::default(), &expected);
    }
}

#[test]
fn a_broken_file_is_reported_with_its_line() {
    let error = load("[server]\nlisten = \n", &[], &Flags::default()).unwrap_err();
    let ConfigError::File { line, problem } = error else {
        panic!("{error:?}");
    };
    assert_eq!(line, 2);
    assert!(!problem.contains('\n'));
    check_file_error(
        "server = 3",
        "configuration file: server is a section: write its keys below its name in brackets",
    );
}

#[test]
fn a_malformed_set_flag_is_quoted_without_its_value() {
    check_error(
        "",
        &[],
        &set(&["listen=127.0.0.1:1"]),
        "--set \"listen\": write --set section.key=value",
    );
    check_error(
        "",
        &[],
        &set(&["server.listen"]),
        "--set \"server.listen\": write --set section.key=value",
    );
}

#[test]
fn every_value_is_checked_and_the_error_says_where_and_how() {
    let check = |key: &str, value: &str, problem: &str| {
        let name = format!("TILL_{}", key.replace('.', "_").to_uppercase());
        let expected = format!("environment, {name}: {key} {problem}");
        check_error("", &[(&name, value)], &Flags::default(), &expected);
        check_error(
            "",
            &[],
            &set(&[&format!("{key}={value}")]),
            &format!("--set: {key} {problem}"),
        );
    };
    check(
        "server.listen",
        "4242",
        "must be an address and a port such as 127.0.0.1:4242",
    );
    let web = "must be an http or https address without user, query or fragment";
    check("server.public_url", "pay.example.com", web);
    check("server.public_url", "ftp://pay.example.com", web);
    check("server.checkout_url", "https://pay.example.com?a=b", web);
    check("server.docs_url", "https://me@pay.example.com", web);
    check("server.live_mode", "yes", "must be true or false");
    let database = "must be sqlite:PATH, sqlite::memory: or postgres://…";
    check("database.url", "mysql://secret@db", database);
    check("database.url", "sqlite:", database);
    check("database.url", "till.db", database);
    check("secrets.key_file", "[\"\"]", "must not hold an empty path");
    check(
        "secrets.key_file",
        "[1",
        "is not a list: write a,b or [\"a\", \"b\"]",
    );
    check(
        "webhooks.trusted_certificates",
        "[1]",
        "must be a text in quotes",
    );
    check(
        "limits.checkout_per_minute",
        "0",
        "must be between 1 and 1000000",
    );
    check(
        "limits.checkout_per_minute",
        "many",
        "must be a whole number",
    );
    check(
        "limits.trusted_proxies",
        "proxy.local",
        "must hold addresses or ranges such as 10.0.0.0/8",
    );
    let smtp = "must be an address such as smtps://user:password@mail.example.com";
    check("mail.smtp_url", "https://mail.example.com", smtp);
    check(
        "mail.smtp_url",
        "smtp://mail.example.com",
        "needs mail.from, the sender's address",
    );
    check(
        "mail.from",
        "till",
        "must be a mail address such as till@example.com",
    );
    check(
        "mail.from",
        "a@b\r\nBcc: c",
        "must be a mail address such as till@example.com",
    );
    check("prices.max_age_s", "0", "must be between 1 and 86400");
    check(
        "prices.fixed",
        "50000",
        "is not a table: write {\"BTC/USD\" = \"50000\"}",
    );
    check(
        "addresses.pool_max",
        "-1",
        "must be between 1 and 2147483647",
    );
    check("addresses.cooldown_h", "0", "must be between 1 and 87600");
    check(
        "addresses.bitcoin_gap_limit",
        "0",
        "must be between 1 and 10000",
    );
    check("invoices.life_min", "1.5", "must be a whole number");
    check(
        "invoices.volatile_life_min",
        "0",
        "must be between 1 and 525600",
    );
    check(
        "invoices.select_min",
        "99999999999",
        "must be between 1 and 525600",
    );
}

#[test]
fn a_value_of_the_wrong_type_in_the_file_is_refused() {
    check_file_error(
        "server.listen = 4242",
        "configuration file: server.listen must be a text in quotes",
    );
    check_file_error(
        "server.live_mode = 'true'",
        "configuration file: server.live_mode must be true or false",
    );
    check_file_error(
        "invoices.life_min = 60.0",
        "configuration file: invoices.life_min must be a whole number",
    );
    check_file_error(
        "limits.trusted_proxies = 10",
        "configuration file: limits.trusted_proxies must be a list of texts",
    );
    check_file_error(
        "prices.fixed = 'x'",
        "configuration file: prices.fixed must be a table of pairs and prices",
    );
}

#[test]
fn a_fixed_price_is_a_plain_decimal_above_zero_for_a_pair() {
    for price in [
        "0", "0.00", "-1", "1e5", "1,000", ".5", "5.", "+5", "", "٣", "1.2.3",
    ] {
        check_file_error(
            &format!("prices.fixed.\"BTC/USD\" = {price:?}"),
            "configuration file: prices.fixed.\"BTC/USD\" must be a plain decimal above zero",
        );
    }
    check_file_error(
        "prices.fixed.\"BTC/USD\" = 50000",
        "configuration file: prices.fixed.\"BTC/USD\" must be in quotes, such as \"50000\"",
    );
    for pair in ["BTCUSD", "btc/usd", "BTC/", "A/B/C"] {
        check_file_error(
            &format!("prices.fixed.{pair:?} = '1'"),
            &format!("configuration file: prices.fixed.{pair:?} is not a pair such as BTC/USD"),
        );
    }
    assert_eq!(
        from_file("prices.fixed.\"X/USD\" = '0.00001'")
            .prices
            .fixed_live["X/USD"],
        "0.00001"
    );
}

#[test]
fn a_network_has_a_caip2_id_web_endpoints_and_a_known_finality() {
    check_file_error(
        "networks.base.rpc = []",
        "configuration file: networks.\"base\" is not a CAIP-2 id such as \"eip155:8453\"",
    );
    check_file_error(
        "networks.\"eip155:1\".rpc = ['wss://secret.example']",
        "configuration file: networks.\"eip155:1\".rpc must hold http or https addresses",
    );
    check_file_error(
        "networks.\"eip155:1\".credit_at = 'finalized'",
        "configuration file: networks.\"eip155:1\".credit_at must be included, safe or final",
    );
    assert_eq!(
        from_file("[networks.\"eip155:1\"]").networks,
        BTreeMap::new()
    );
}

#[test]
fn a_logged_configuration_shows_no_password_and_no_provider_key() {
    let shown = format!("{:?}", from_file(FULL_FILE));
    for secret in ["hunter2", "u:p@", "one.example"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert!(shown.contains("postgres"));
}
