//! From a configuration to the parts of a server. What the configuration names but this version does not
//! know is refused here, before anything starts.

mod networks;

pub use networks::{endpoints, networks, provided, publishers, topics};

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use till_core::asset::Mode;
use till_core::limits::WEBHOOK_ANSWER_MS_MAX;
use till_core::pricing::Price;
use till_core::scope::Scope;
use till_core::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};
use till_core::webhook::UrlPolicy;
use till_engine::base::clock::{Clock, Entropy};
use till_engine::base::prices::{FixedPrices, Prices};
use till_engine::base::vault::Vault;
use till_engine::lists::{Format, ListConfig, ListSource, Lists, ListsConfig};
use till_engine::outbound::{Sender, SenderConfig, SenderError};
use till_engine::smtp::Mailer;
use till_engine::workers::pulse;
use till_engine::{DashboardConfig, Engine, EngineConfig, EngineLimits, Retention, Signup};
use till_store::Db;

use self::networks::{credit_at, feeds, final_above, final_depths, nodes, watched, watching};
use crate::config::{self, Config, Urls};
use crate::database::{self, Patience};
use crate::failure::{Failure, remedy};
use crate::handles;
use crate::keyfile::{self, IfMissing, Key};
use crate::system::{SystemClock, SystemEntropy};
use crate::tls;

/// Which server this is: the demo answers some calls with codes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Business,
    Demo,
    /// No server: a command, perhaps beside some.
    Command,
}

impl Purpose {
    fn patience(self) -> Patience {
        match self {
            Purpose::Business | Purpose::Demo => Patience::Server,
            Purpose::Command => Patience::Command,
        }
    }
}

/// Refuses, before anything is opened or made, what only the registry and the core can tell is wrong.
pub fn check_settings(config: &Config) -> Result<(), Failure> {
    credit_at(config)?;
    provided(config)?;
    publishers(config)?;
    final_depths(config)?;
    feeds(config)?;
    prices(config)?;
    tls::files(config).map(drop)
}

/// The engine on a database that is migrated and whose secrets the configured keys open. What is missing is made.
pub async fn engine(
    config: &Config,
    urls: &Urls,
    purpose: Purpose,
) -> Result<Arc<Engine>, Failure> {
    let clock = Arc::new(SystemClock::start());
    whole_engine(config, urls, purpose, IfMissing::Make, clock).await
}

/// The engine of a demo, on a clock of its own.
pub async fn demo_engine(
    config: &Config,
    urls: &Urls,
    clock: Arc<dyn Clock>,
) -> Result<Arc<Engine>, Failure> {
    whole_engine(config, urls, Purpose::Demo, IfMissing::Make, clock).await
}

/// The same for commands that are about what is there already: it makes neither database nor key file, and changes no schema.
pub async fn engine_on_existing(config: &Config) -> Result<Arc<Engine>, Failure> {
    let urls = config.urls(config.server.listen);
    let clock = Arc::new(SystemClock::start());
    whole_engine(config, &urls, Purpose::Command, IfMissing::Refuse, clock).await
}

async fn whole_engine(
    config: &Config,
    urls: &Urls,
    purpose: Purpose,
    if_missing: IfMissing,
    clock: Arc<dyn Clock>,
) -> Result<Arc<Engine>, Failure> {
    let (settings, prices) = (engine_config(config, urls, purpose)?, prices(config)?);
    let (mailer, lists, feeds) = (mailer(config)?, lists(config)?, feeds(config)?);
    let watching = watching(config)?;
    let nodes = nodes(config, watching.as_ref(), Arc::clone(&clock))?;
    let db = match if_missing {
        IfMissing::Make => {
            database::open_migrated(&config.database, &*clock, purpose.patience()).await?
        }
        IfMissing::Refuse => database::open_existing(&config.database).await?,
    };
    // Where nothing was ever encrypted there is nothing to open, and who makes no key file names none.
    let needs_none = if_missing == IfMissing::Refuse && is_new(&db).await?;
    let (keys, made) = match needs_none {
        true => (vec![random_key()], None),
        false => keys(config, &db).await?,
    };
    let engine = build(db, clock, settings, &keys, prices)?;
    // Before anything falls due or is dated by a machine's clock that is wrong.
    pulse::compare_clocks(&engine).await?;
    if !needs_none {
        check_keys(&engine).await?;
        agree_on_key(&engine, &config.key_files(), made).await?;
        if if_missing == IfMissing::Make {
            till_engine::digests::key::ensure(&engine).await?;
        }
    }
    let engine = engine.with_mailer(mailer).with_nodes(nodes);
    let engine = engine.with_lists(Some(lists)).with_watching(watching);
    let engine = engine.with_feeds(feeds);
    Ok(Arc::new(engine))
}

/// What addresses are held against.
pub fn lists(config: &Config) -> Result<Lists, Failure> {
    let screening = &config.screening;
    let mut lists = Vec::new();
    for list in &screening.lists {
        let unknown = || Failure::new("configuration: screening.lists has an unknown format");
        lists.push(ListConfig {
            name: list.name.clone(),
            source: match list.source.contains("://") {
                true => ListSource::Url(list.source.clone()),
                false => ListSource::File(list.source.clone().into()),
            },
            format: Format::parse(&list.format).ok_or_else(unknown)?,
        });
    }
    let settings = ListsConfig {
        lists,
        refresh_ms: i64::from(screening.refresh_h) * HOUR_MS,
        max_age_ms: i64::from(screening.max_age_h) * HOUR_MS,
        on_chain: screening.on_chain,
        trusted_certificates_pem: trusted_certificates(config)?,
    };
    Lists::new(settings).map_err(|error| Failure::new(format!("screening.lists: {error}")))
}

/// None where no mail server is configured: what needs one then answers that it is unavailable.
pub fn mailer(config: &Config) -> Result<Option<Mailer>, Failure> {
    let (Some(url), Some(from)) = (&config.mail.smtp_url, &config.mail.from) else {
        return Ok(None);
    };
    let mailer = Mailer::new(url, from).map_err(|error| Failure::new(format!("mail: {error}")))?;
    Ok(Some(mailer))
}

/// An engine for commands that seal and open nothing: it needs no key file and changes no schema.
pub async fn engine_without_secrets(config: &Config) -> Result<Engine, Failure> {
    let urls = config.urls(config.server.listen);
    let settings = engine_config(config, &urls, Purpose::Command)?;
    let prices = prices(config)?;
    let db = database::open_existing(&config.database).await?;
    let clock = Arc::new(SystemClock::start());
    let engine = build(db, clock, settings, &[random_key()], prices)?;
    pulse::compare_clocks(&engine).await?;
    Ok(engine)
}

fn build(
    db: Db,
    clock: Arc<dyn Clock>,
    settings: EngineConfig,
    keys: &[Key],
    prices: Prices,
) -> Result<Engine, Failure> {
    let vault = Vault::new(keys).map_err(|error| Failure::new(error.to_string()))?;
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    Ok(Engine::new(db, clock, entropy, settings, vault, prices))
}

pub fn engine_config(
    config: &Config,
    urls: &Urls,
    purpose: Purpose,
) -> Result<EngineConfig, Failure> {
    let budget = handles::budget(config, handles::limit());
    Ok(EngineConfig {
        public_url: urls.public.clone(),
        checkout_url: urls.checkout.clone(),
        shard: config.server.shard.clone(),
        live_mode: config.server.live_mode,
        demo: purpose == Purpose::Demo,
        allow_private_webhooks: config.webhooks.allow_private_addresses,
        pool_max: i64::from(config.addresses.pool_max),
        cooldown_ms: i64::from(config.addresses.cooldown_h) * HOUR_MS,
        unpaid_cooldown_ms: i64::from(config.addresses.unpaid_cooldown_h) * HOUR_MS,
        bitcoin_gap_limit: i64::from(config.addresses.bitcoin_gap_limit),
        life_ms: i64::from(config.invoices.life_min) * MINUTE_MS,
        volatile_life_ms: i64::from(config.invoices.volatile_life_min) * MINUTE_MS,
        volatile_rest_ms: i64::from(config.invoices.volatile_rest_min) * MINUTE_MS,
        select_ms: i64::from(config.invoices.select_min) * MINUTE_MS,
        attempt_ms: i64::from(config.subscriptions.attempt_days) * DAY_MS,
        require_wallet_proof: config.wallets.require_proof,
        watched: watched(config)?,
        credit_at: credit_at(config)?,
        final_above: final_above(config)?,
        final_depths: final_depths(config)?,
        dashboard: dashboard(config, urls),
        limits: EngineLimits {
            open_link_invoices_per_client: i64::from(config.limits.open_link_invoices_per_client),
            picked_link_invoices_per_client: i64::from(
                config.limits.picked_link_invoices_per_client,
            ),
            webhooks_under_way: budget.webhooks_under_way,
            retention: Retention {
                deliveries_d: config.retention.deliveries_d.into(),
                events_d: config.retention.events_d.into(),
                payer_contacts_d: config.retention.payer_contacts_d.into(),
            },
        },
    })
}

fn dashboard(config: &Config, urls: &Urls) -> DashboardConfig {
    let given = &config.dashboard;
    DashboardConfig {
        is_enabled: given.enabled,
        url: urls.dashboard.clone(),
        signup: match given.signup {
            config::Signup::Closed => Signup::Closed,
            config::Signup::Invite => Signup::Invite,
            config::Signup::Open => Signup::Open,
        },
        change_delay_ms: i64::from(given.change_delay_s) * SECOND_MS,
        session_idle_ms: i64::from(given.session_idle_s) * SECOND_MS,
        session_max_ms: i64::from(given.session_max_s) * SECOND_MS,
    }
}

fn prices(config: &Config) -> Result<Prices, Failure> {
    let prices = &config.prices;
    for (pair, price) in prices.fixed.test.iter().chain(&prices.fixed.live) {
        if Price::parse(price).is_none() {
            let line = format!(
                "configuration: prices.fixed.{pair:?} has more digits than a price can have"
            );
            return Err(Failure::new(line));
        }
    }
    let fixed = FixedPrices {
        test: prices.fixed.test.clone(),
        live: prices.fixed.live.clone(),
    };
    Ok(Prices::new(fixed, i64::from(prices.max_age_s) * SECOND_MS))
}

/// Whether nothing was encrypted in it yet.
pub async fn is_new(db: &Db) -> Result<bool, Failure> {
    // In this order: whoever wrote a secret had made the key file before.
    let mut reader = db.read().await?;
    let named = till_store::installation::key_name(&mut reader).await?;
    Ok(named.is_none()
        && till_store::accounts::any_with_secret(&mut reader)
            .await?
            .is_none())
}

/// The keys of the configured files, and the file that was made for it. A database in memory gets a key of its own that
/// nobody keeps.
async fn keys(config: &Config, db: &Db) -> Result<(Vec<Key>, Option<PathBuf>), Failure> {
    let keeps_nothing = db.dialect() == till_store::Dialect::SqliteMemory;
    if keeps_nothing && config.secrets.key_file.is_empty() {
        return Ok((vec![random_key()], None));
    }
    let if_missing = match is_new(db).await? {
        true => IfMissing::Make,
        false => IfMissing::Refuse,
    };
    let paths = config.key_files();
    let (keys, made) = keyfile::read_all(&paths, if_missing, &SystemEntropy)?;
    for path in paths.iter().filter(|path| keyfile::is_exposed(path)) {
        tracing::warn!(path = %path.display(), "the key file can be read by others; make it chmod 600");
    }
    Ok((keys, made))
}

/// The database says which key encrypts in it, from the first start on. Of several servers that start on an empty one at
/// once, each with a key file of its own, one is first; the others are told, and do not leave their file behind.
async fn agree_on_key(
    engine: &Engine,
    paths: &[PathBuf],
    made: Option<PathBuf>,
) -> Result<(), Failure> {
    let mut tx = engine.db.begin().await?;
    let claimed = till_store::installation::claim_key_name(&mut tx, &engine.vault.name()).await?;
    tx.commit().await?;
    if engine.vault.encrypt_with(&claimed) {
        return Ok(());
    }
    if let Some(path) = made {
        std::fs::remove_file(&path).ok();
    }
    let path = paths.first().map(|path| path.display().to_string());
    Err(Failure::new(format!(
        "this database is encrypted with the key {claimed}, and this server has another; copy the key file of the server \
         that was first to {}",
        path.unwrap_or_default()
    )))
}

/// Whether these keys open what the database holds.
pub async fn keys_open(config: &Config, db: Db, keys: &[Key]) -> Result<(), Failure> {
    let urls = config.urls(config.server.listen);
    let settings = engine_config(config, &urls, Purpose::Business)?;
    let clock = Arc::new(SystemClock::start());
    let engine = build(db, clock, settings, keys, prices(config)?)?;
    check_keys(&engine).await?;
    let unknown = till_engine::rotation::by_unknown_keys(&engine).await?;
    match unknown.first() {
        None => Ok(()),
        Some((place, name, count)) => Err(Failure::new(format!(
            "{count} values in {} were encrypted with the key {name}, which is in none of the files; add its file to secrets.key_file \
             and run `till key-file rotate`",
            place.table()
        ))),
    }
}

/// A wrong key is found at the start, not when the first webhook cannot be signed.
async fn check_keys(engine: &Engine) -> Result<(), Failure> {
    let mut reader = engine.db.read().await?;
    let Some(holder) = till_store::accounts::any_with_secret(&mut reader).await? else {
        return Ok(());
    };
    let Some(mode) = Mode::parse(&holder.mode) else {
        return Ok(());
    };
    let scope = Scope::new(&holder.account, mode);
    let opened = till_engine::merchants::secrets::current(&mut reader, engine, &scope).await;
    opened.map(drop).map_err(|fail| {
        let cause = Failure::from(fail);
        Failure::new(format!(
            "secrets.key_file does not fit this database: {cause}"
        ))
    })
}

fn random_key() -> Key {
    let mut key = Key::default();
    SystemEntropy.fill(&mut key);
    key
}

fn trusted_certificates(config: &Config) -> Result<Vec<Vec<u8>>, Failure> {
    let read = |path: &PathBuf| {
        std::fs::read(path).map_err(|error| {
            Failure::new(format!(
                "webhooks.trusted_certificates: {} cannot be read: {error}{}",
                path.display(),
                remedy(&error)
            ))
        })
    };
    config
        .webhooks
        .trusted_certificates
        .iter()
        .map(read)
        .collect()
}

/// Who delivers webhooks. It must not be talked into calling this very server.
pub fn sender(config: &Config, own_addresses: Vec<SocketAddr>) -> Result<Sender, Failure> {
    let webhooks = &config.webhooks;
    let policy = match webhooks.allow_private_addresses {
        true => UrlPolicy::PrivateAllowed,
        false => UrlPolicy::Public,
    };
    let settings = SenderConfig {
        policy,
        trusted_certificates_pem: trusted_certificates(config)?,
        own_addresses,
        sockets: handles::budget(config, handles::limit()).webhook_sockets,
        deadline: Duration::from_millis(u64::from(WEBHOOK_ANSWER_MS_MAX)),
    };
    Sender::new(settings).map_err(|error| match error {
        SenderError::Certificate(index) => {
            let path = webhooks.trusted_certificates.get(index);
            let path = path.map(|path| path.display().to_string());
            Failure::new(format!(
                "webhooks.trusted_certificates: {} holds no readable certificate",
                path.unwrap_or_default()
            ))
        }
        SenderError::NoTrustedCertificates => Failure::new(
            "no certificates to trust: install the system's (package ca-certificates) or set webhooks.trusted_certificates",
        ),
        error => Failure::new(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use till_core::asset::Registry;
    use till_core::payment::Level;

    use super::*;
    use crate::config::Flags;

    fn settings(file: &str) -> Result<EngineConfig, Failure> {
        let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
        let urls = config.urls(config.server.listen);
        engine_config(&config, &urls, Purpose::Business)
    }

    #[test]
    fn a_network_is_known_by_its_alias_too() {
        let file = "[networks.\"tron:0x2b6653dc\"]\ncredit_at = \"included\"\n";
        let levels = settings(file).unwrap().credit_at;
        assert_eq!(levels.get("tron:728126428"), Some(&Level::Included));
    }

    #[test]
    fn an_unknown_network_is_refused_with_those_of_its_family() {
        let file = "[networks.\"tron:1\"]\nrpc = []\n";
        let failure = settings(file).unwrap_err().to_string();
        assert!(failure.contains("tron:728126428"), "{failure}");
        assert!(!failure.contains("eip155"), "{failure}");
    }

    #[test]
    fn a_network_given_under_two_names_is_refused() {
        let file =
            "[networks.\"tron:0x2b6653dc\"]\nrpc = []\n[networks.\"tron:728126428\"]\nrpc = []\n";
        let failure = settings(file).unwrap_err().to_string();
        assert!(failure.contains("under another name"), "{failure}");
    }

    #[test]
    fn a_level_that_a_network_does_not_have_is_refused() {
        let registry = Registry::builtin();
        let network = registry.networks().iter().find(|n| n.safe.is_none());
        let id = &network.expect("one without").id;
        let file = format!("[networks.{id:?}]\ncredit_at = \"safe\"\n");
        let failure = settings(&file).unwrap_err().to_string();
        assert!(failure.contains("between included and final"), "{failure}");
    }

    #[test]
    fn publishers_are_for_networks_whose_nodes_publish() {
        let load = |network: &str| {
            let file = format!("[networks.{network:?}]\nzmq = [\"tcp://127.0.0.1:28332\"]\n");
            let config = Config::load(Some(&*file), std::iter::empty(), &Flags::default()).unwrap();
            publishers(&config).map(|all| all.into_values().flatten().count())
        };
        let bitcoin = "bip122:000000000019d6689c085ae165831e93";
        assert_eq!(load(bitcoin).unwrap(), 1);
        for other in ["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"] {
            let failure = load(other).unwrap_err().to_string();
            assert!(failure.contains("publish nothing"), "{failure}");
        }
    }

    #[test]
    fn minutes_and_hours_become_milliseconds() {
        let settings = settings("[invoices]\nlife_min = 2\n[addresses]\ncooldown_h = 3\n").unwrap();
        assert_eq!(settings.life_ms, 120_000);
        assert_eq!(settings.cooldown_ms, 10_800_000);
        assert_eq!(settings.public_url, "http://127.0.0.1:4242");
    }
}
