//! Every setting of every section, once.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use till_core::limits::LINK_OPEN_INVOICES_MAX;

use super::parse::{
    client_address, credit_at, database_url, endpoint, figure, listen, log_format, log_level, path,
    proxy, publisher, replica_url, sender, shard, signup, smtp_url, web_url,
};
use super::setting::{Setting, section};
use super::values::{
    ClientAddress, CreditAt, FixedPrices, LogFormat, LogLevel, PriceSource, ScreeningList, Signup,
};

/// All of them but a network's, in the order in which they are shown.
pub(super) const SECTIONS: &[&[Setting]] = &[
    Server::SETTINGS,
    Database::SETTINGS,
    Secrets::SETTINGS,
    Webhooks::SETTINGS,
    Limits::SETTINGS,
    Mail::SETTINGS,
    Prices::SETTINGS,
    Addresses::SETTINGS,
    Invoices::SETTINGS,
    Subscriptions::SETTINGS,
    Wallets::SETTINGS,
    Screening::SETTINGS,
    Dashboard::SETTINGS,
    Metrics::SETTINGS,
    Retention::SETTINGS,
    Log::SETTINGS,
];

pub(super) fn settings() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().copied().flatten()
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Server in "server" {
        /// Address and port to listen on; port 0 picks a free one.
        listen: SocketAddr = text("127.0.0.1:4242", listen),
        /// Where the API is reached from outside. By default `http://`, with TLS `https://`, and the address that was bound.
        public_url: Option<String> = optional(web_url),
        /// Where payers find the checkout pages. By default `/checkout` below `server.public_url`.
        checkout_url: Option<String> = optional(web_url),
        /// Where error messages send developers. By default `/docs` below `server.public_url`.
        docs_url: Option<String> = optional(web_url),
        /// This installation's name where several share one address: one to eight small letters and digits. Keys and claim tokens that are made
        /// here begin with it, and a router sends each request to its installation by that.
        shard: Option<String> = optional(shard),
        /// Whether real money is taken. Without it live keys are answered with `livemode_disabled`.
        live_mode: bool = flag(false),
        /// The server's certificate, in PEM form, with those that lead to a known authority. With it and `server.tls_key` the server
        /// speaks TLS and HTTP/2. Read anew when the file changes, and at SIGHUP.
        tls_certificate: Option<PathBuf> = optional(path),
        /// The certificate's private key, in PEM form.
        tls_key: Option<PathBuf> = optional(path),
        /// Seconds for which a server that was told to stop goes on answering, unready, before it closes. With what ends
        /// afterwards, 5 is within what supervisors commonly wait.
        drain_s: u32 = number(5, 0..=60),
        /// Seconds after which a client that reads less than 1 KiB/s is disconnected.
        slow_reader_s: u32 = number(60, 1..=3_600),
    }
}

section! {
    #[derive(Clone, PartialEq, Eq)]
    pub struct Database in "database" {
        /// `sqlite:PATH`, `sqlite::memory:` or `postgres://…`, which may name several servers.
        url: String = [secret] text("sqlite:till.db", database_url),
        /// Connections for reading.
        readers: u32 = number(8, 1..=1_000),
        /// Connections for writing, on PostgreSQL; SQLite has one.
        writers: u32 = number(8, 1..=1_000),
        /// Says that a pooler in transaction mode is between server and database, where that is not noticed by itself.
        transaction_pooler: bool = flag(false),
        /// PostgreSQL standbys of the database, `postgres://…` of one server each, which answer lists, reports and exports. Nothing that
        /// decides is read from them.
        replicas: Vec<String> = [secret] list(replica_url),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Secrets in "secrets" {
        /// Key files, newest first: what must not be readable at rest is encrypted with the first. By default `till.key`
        /// beside the SQLite file, or in the working directory; made at the first start, readable by its owner alone.
        key_file: Vec<PathBuf> = list(path),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Webhooks in "webhooks" {
        /// For development: permits webhook URLs with http and with private addresses.
        allow_private_addresses: bool = flag(false),
        /// PEM files of certificate authorities that are trusted besides the system's.
        trusted_certificates: Vec<PathBuf> = list(path),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Limits in "limits" {
        /// Calls a minute of each limited checkout endpoint, per key and client address.
        checkout_per_minute: u32 = number(60, 1..=1_000_000),
        /// Proxies whose `X-Forwarded-For` is believed: addresses or ranges such as 10.0.0.0/8.
        trusted_proxies: Vec<IpNet> = list(proxy),
        /// Unpaid invoices that one client may have open at a payment link; twice as many at all links of a merchant.
        open_link_invoices_per_client: u32 = number(5, 1..=LINK_OPEN_INVOICES_MAX),
        /// Those of them for which the client may pick a network.
        picked_link_invoices_per_client: u32 = number(2, 1..=LINK_OPEN_INVOICES_MAX),
        /// Connections in all; fewer where the system allows fewer open files.
        connections: u32 = number(20_000, 1..=1_000_000),
        /// Connections of one client address. Trusted proxies are not counted.
        connections_per_client: u32 = number(500, 1..=1_000_000),
        /// Live streams of one client address.
        streams_per_client: u32 = number(100, 1..=1_000_000),
    }
}

section! {
    #[derive(Clone, PartialEq, Eq)]
    pub struct Mail in "mail" {
        /// The mail server, such as `smtps://user:password@mail.example.com`. Without it features that need mail answer
        /// `feature_unavailable`.
        smtp_url: Option<String> = [secret] optional(smtp_url),
        /// The sender's address, needed with `mail.smtp_url`.
        from: Option<String> = optional(sender),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Prices in "prices" {
        /// Fixed prices, such as `{"BTC/USD" = "50000"}`, which is the default in test mode; live mode has none.
        fixed: FixedPrices = fixed_prices(),
        /// Seconds after which an observed price is too old: then `price_unavailable`.
        max_age_s: u32 = number(120, 1..=86_400),
        /// Where prices are observed: tables of `pair` and `kind`; `chainlink` with `network` and `feed`, or `http` with `url`
        /// and `pointer`, a JSON pointer to a decimal.
        sources: Vec<PriceSource> = [secret] price_sources(),
        /// How many fresh sources of a pair must agree.
        min_sources: u32 = number(2, 1..=100),
        /// Within how many hundredths of a percent they must agree; the median is used.
        max_spread_bps: u32 = number(100, 0..=10_000),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Addresses in "addresses" {
        /// Address numbers ever used per account, mode and chain family; beyond it, those that have cooled down longest are
        /// used again. Bitcoin's numbers end at 2^31.
        pool_max: u32 = number(1_000_000, 1..=0x7fff_ffff),
        /// Hours for which an address belongs to its last invoice after that closed.
        cooldown_h: u32 = number(168, 1..=87_600),
        /// The same for Bitcoin addresses that were never paid, where the wallet's gap is small.
        unpaid_cooldown_h: u32 = number(24, 1..=87_600),
        /// Unpaid Bitcoin addresses in a row that the merchant's wallet looks beyond.
        bitcoin_gap_limit: u32 = number(20, 1..=10_000),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Invoices in "invoices" {
        /// Minutes an invoice is open by default.
        life_min: u32 = number(60, 1..=525_600),
        /// The same where a volatile asset is offered, whose rate is kept meanwhile.
        volatile_life_min: u32 = number(15, 1..=525_600),
        /// Minutes after an invoice expired in which the rest of a part-paid one in a volatile asset still counts.
        volatile_rest_min: u32 = number(60, 0..=525_600),
        /// Minutes a payer has to pick a network.
        select_min: u32 = number(30, 1..=525_600),
        /// Seconds for which an expiry waits for a watched network to be read up to the deadline.
        expiry_wait_s: u32 = number(600, 0..=86_400),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Subscriptions in "subscriptions" {
        /// Days for which each attempt to charge a period stays open, after the first.
        attempt_days: u32 = number(3, 1..=30),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Dashboard in "dashboard" {
        /// Whether the dashboard is there at all.
        enabled: bool = flag(true),
        /// Where it is reached: https, or http on `localhost`. By default `/dashboard` below `server.public_url`, with `localhost` in place of
        /// a loopback address. Passkeys belong to its host: with another host they are useless.
        url: Option<String> = optional(web_url),
        /// Who lets people in: `closed` (only the command line), `invite` (members, too) or `open` (anybody with an email address; needs mail).
        signup: Signup = text("invite", signup),
        /// Seconds before a change of a live destination, webhook URL or webhook secret takes effect.
        change_delay_s: u32 = number(86_400, 0..=2_592_000),
        /// Seconds after its last use when a session ends.
        session_idle_s: u32 = number(43_200, 60..=2_592_000),
        /// Seconds after signing in when a session ends, however much it is used.
        session_max_s: u32 = number(604_800, 60..=7_776_000),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Wallets in "wallets" {
        /// Whether a payer's wallet must sign before it is bound to an invoice.
        require_proof: bool = flag(false),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Screening in "screening" {
        /// Lists of addresses: tables of `name`, `source` (a path or an https URL) and `format` (`ofac_sdn_advanced` or
        /// `plain`).
        lists: Vec<ScreeningList> = [secret] screening_lists(),
        /// Hours after which a list is read again.
        refresh_h: u32 = number(12, 1..=8_760),
        /// Hours after which a list is too old to clear anybody.
        max_age_h: u32 = number(48, 1..=8_760),
        /// Whether the issuers' blacklists and the sanctions oracle are asked on the chain.
        on_chain: bool = flag(true),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Metrics in "metrics" {
        /// Address and port of `/metrics`, for the operator alone; without it there are none.
        listen: Option<SocketAddr> = optional(listen),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Retention in "retention" {
        /// Days after which webhook attempts are deleted. Retries take three.
        deliveries_d: u32 = number(90, 4..=36_500),
        /// Days after which events are deleted. An answer under an idempotency key is an event for thirty.
        events_d: u32 = number(400, 35..=36_500),
        /// Days after which payers' e-mail addresses are deleted, once their invoice closed.
        payer_contacts_d: u32 = number(30, 1..=36_500),
    }
}

section! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Log in "log" {
        /// `text` or `json`. By default text on a terminal, JSON elsewhere.
        format: Option<LogFormat> = optional(log_format),
        /// `warn`, `info` (with a line for every request) or `debug`. Read anew at SIGHUP.
        level: LogLevel = text("info", log_level),
        /// How much of a client's address is logged: `full`, `prefix` (/24, or /48 of IPv6) or `none`.
        client_address: ClientAddress = text("prefix", client_address),
    }
}

section! {
    #[derive(Clone, PartialEq, Eq, Default)]
    pub struct Network in "networks" {
        /// Endpoints of nodes, several for failover and cross-checking. Without any, the network works in test mode by
        /// simulation alone.
        rpc: Vec<String> = [secret] list(endpoint),
        /// Bitcoin: providers with the pages of Esplora, by the address that these begin with, such as `https://blockstream.info/api`. They
        /// are endpoints like those of `rpc`.
        esplora: Vec<String> = [secret] list(endpoint),
        /// The finality at which a payment counts: `included`, `safe` or `final`.
        credit_at: CreditAt = text("final", credit_at),
        /// An invoice whose price is at or above this figure of its own currency is credited at `final` only.
        final_above: Option<String> = optional(figure),
        /// From which price of an invoice on, in its own currency, a block is final only with so many confirmations: `{"100" = 8}`.
        /// For networks whose confirmations are counted.
        final_depth: BTreeMap<String, u32> = final_depths(figure),
        /// A file with the name and password of the nodes whose addresses have none, as Bitcoin Core writes it at each start.
        cookie_file: Option<PathBuf> = optional(path),
        /// Bitcoin: where nodes publish blocks and transactions over ZeroMQ (`zmqpubhashblock`, `zmqpubrawtx`), such as `tcp://127.0.0.1:28332`.
        /// Endpoints are asked at once when something was published.
        zmq: Vec<String> = list(publisher),
        /// How many endpoints must agree. By default 2 where there are two or more.
        quorum: Option<u32> = optional_number(1..=100),
        /// The block from which a network is read when it is watched for the first time. By default the head, or the block
        /// before the oldest open lease.
        scan_from: Option<u32> = optional_number(0..=u32::MAX),
    }
}
