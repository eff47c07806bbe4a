//! What is refused, and in which words.

use super::*;

#[test]
fn an_unknown_key_is_named_with_what_exists_beside_it() {
    check_file_error(
        "[mail]\nsmtp = 'x'",
        "configuration file: unknown setting `mail.smtp`; mail has smtp_url, from",
    );
    check_file_error(
        "[maill]\nfrom = 'x'",
        "configuration file: unknown setting `maill`; the sections are server, database, secrets, \
         webhooks, limits, mail, prices, addresses, invoices, subscriptions, wallets, screening, dashboard, metrics, retention, log, networks",
    );
    check_file_error(
        "[networks.'eip155:1']\nurl = 'x'",
        "configuration file: unknown setting `networks.\"eip155:1\".url`; networks has rpc, esplora, credit_at, final_above, final_depth, cookie_file, zmq, quorum, scan_from",
    );
    check_error(
        "",
        &[],
        &set(&["server.port=80"]),
        "--set: unknown setting `server.port`; server has listen, public_url, checkout_url, docs_url, shard, live_mode, tls_certificate, tls_key, drain_s, slow_reader_s",
    );
}

#[test]
fn a_publisher_is_a_place_that_can_be_connected_to() {
    for text in ["http://127.0.0.1:28332", "tcp://*:28332", "tcp://node"] {
        check_file_error(
            &format!("[networks.'bip122:000000000019d6689c085ae165831e93']\nzmq = ['{text}']"),
            "configuration file: networks.\"bip122:000000000019d6689c085ae165831e93\".zmq must hold addresses such as tcp://127.0.0.1:28332",
        );
    }
}

#[test]
fn replicas_are_standbys_of_a_postgresql_database_each_by_itself() {
    check_file_error(
        "[database]\nreplicas = ['postgres://standby/till']",
        "configuration file: database.replicas needs PostgreSQL in database.url: a SQLite database has no replicas",
    );
    for url in [
        "sqlite:copy.db",
        "standby",
        "postgres://one,two/till",
        "postgres://one/till?target_session_attrs=any",
    ] {
        check_file_error(
            &format!("[database]\nurl = 'postgres://db/till'\nreplicas = ['{url}']"),
            "configuration file: database.replicas must hold postgres://… addresses of one server each, without target_session_attrs",
        );
    }
}

#[test]
fn an_unknown_variable_is_no_reason_to_refuse_and_is_named_without_its_value() {
    let unknown = |name: &str| {
        let env = [(name, "hunter2")];
        let config = load("", &env, &Flags::default()).unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
        let [unknown] = <[_; 1]>::try_from(config.unknown_variables).unwrap();
        assert_eq!(unknown.name, name);
        unknown.meant
    };
    // What Kubernetes sets for a service called till.
    for name in [
        "TILL_SERVICE_HOST",
        "TILL_PORT",
        "TILL_PORT_4242_TCP",
        "TILL_",
    ] {
        assert_eq!(unknown(name), None, "{name}");
    }
    let meant = |name: &str, meant: &str| assert_eq!(unknown(name).as_deref(), Some(meant));
    meant("TILL_SERVER_LISTENS", "TILL_SERVER_LISTEN");
    meant("TILL_DATABSE_URL", "TILL_DATABASE_URL");
    meant("TILL_SERVER_LIVEMODE", "TILL_SERVER_LIVE_MODE");
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
    for address in [
        "https://node.example/v2/secret",
        "https://node.example/v2/secret?a=b",
        "networks.https://node.example/secret.rpc=x",
    ] {
        let expected = "--set \"…\": write --set section.key=value";
        check_error("", &[], &set(&[address]), expected);
    }
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
    for name in ["B", "b_", "ninechars", "ä"] {
        let problem = "must be one to eight small letters and digits";
        check("server.shard", name, problem);
    }
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
        "addresses.unpaid_cooldown_h",
        "0",
        "must be between 1 and 87600",
    );
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
    check(
        "subscriptions.attempt_days",
        "0",
        "must be between 1 and 30",
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
            .fixed
            .live["X/USD"],
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
    check_file_error(
        "networks.\"eip155:1\".quorum = 2\nnetworks.\"eip155:1\".rpc = ['https://one.example']",
        "configuration file: networks.\"eip155:1\".quorum is more than there are endpoints",
    );
    check_file_error(
        "networks.\"eip155:1\".rpc = ['https://one.example/secret', 'HTTPS://one.example:443/secret/#a']",
        "configuration file: networks.\"eip155:1\".rpc names an endpoint twice",
    );
    check_file_error(
        "networks.\"eip155:1\".rpc = ['https://one.example/x', 'https://user:secret@one.example/x']",
        "configuration file: networks.\"eip155:1\".rpc names an endpoint twice",
    );
    check_file_error(
        "prices.sources = [{pair = 'BTC/USD', kind = 'http', url = 'https://a.example', pointer = '/p'}]",
        "configuration: prices.min_sources is more than there are sources of a pair: it would never have a price",
    );
    for (source, problem) in [
        (
            "{pair = 'BTC', kind = 'http'}",
            "must give each source a pair such as BTC/USD",
        ),
        (
            "{pair = 'BTC/USD', kind = 'guess'}",
            "must be of the kind chainlink or http",
        ),
        (
            "{pair = 'BTC/USD', kind = 'http', url = 'http://a.example', pointer = '/p'}",
            "must have an https address without credentials as url",
        ),
        (
            "{pair = 'BTC/USD', kind = 'chainlink', network = 'eip155:1', feed = '0x1', age = 1}",
            "must give a source nothing but what its kind has",
        ),
    ] {
        check_file_error(
            &format!("prices.sources = [{source}]"),
            &format!("configuration file: prices.sources {problem}"),
        );
    }
    check_file_error(
        "networks.\"eip155:1\".final_above = 'much'",
        "configuration file: networks.\"eip155:1\".final_above must be a plain decimal above zero",
    );
    for (depths, problem) in [
        ("8", " must be a table of figures and numbers"),
        ("{much = 8}", ".\"much\" must be a plain decimal above zero"),
        ("{100 = 0}", ".\"100\" must be a number between 1 and 1000"),
        (
            "{100 = '8'}",
            ".\"100\" must be a number between 1 and 1000",
        ),
    ] {
        check_file_error(
            &format!("networks.\"eip155:1\".final_depth = {depths}"),
            &format!("configuration file: networks.\"eip155:1\".final_depth{problem}"),
        );
    }
    assert_eq!(
        from_file("[networks.\"eip155:1\"]").networks,
        BTreeMap::new()
    );
}

#[test]
fn a_list_needs_a_name_a_source_and_a_format() {
    let check = |list: &str, expected: &str| {
        let file = format!("[screening]\nlists = [{list}]");
        check_file_error(
            &file,
            &format!("configuration file: screening.lists must {expected}"),
        );
    };
    check("'ofac'", "hold tables of name, source and format");
    check(
        "{ name = 'ofac', source = 'sdn.xml' }",
        "give each list a name, a source and a format, as texts",
    );
    check(
        "{ name = 'ofac', source = 'sdn.xml', format = 'plain', url = 'x' }",
        "give a list nothing but a name, a source and a format",
    );
    check(
        "{ name = 'OFAC list', source = 'sdn.xml', format = 'plain' }",
        "name lists in small letters, digits, _ and -",
    );
    check(
        "{ name = 'ofac', source = 'sdn.xml', format = 'csv' }",
        "have the format ofac_sdn_advanced or plain",
    );
    for source in [
        "",
        "http://lists.example/x",
        "https://user@lists.example/x",
        "ftp://x/y",
    ] {
        check(
            &format!("{{ name = 'ofac', source = '{source}', format = 'plain' }}"),
            "have a path or an https address without credentials as source",
        );
    }
    let twice = "{ name = 'a', source = 'x', format = 'plain' }, { name = 'a', source = 'y', format = 'plain' }";
    check(twice, "not have one name twice");
    check_file_error(
        "[screening]\nmax_age_h = 12",
        "configuration file: screening.max_age_h must be more than screening.refresh_h, \
         or every list is too old before it is read again",
    );
}
