//! The engine: what all use cases share, and the unit of work they run in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use till_core::money::{self, Currency};
use till_core::payment::Level;
use till_store::{Db, StoreError, Tx};

use super::clock::{Clock, Entropy, Ids, Jumps};
use super::feeds::Feeds;
use super::key_uses::KeyUses;
use super::numbers::Numbers;
use super::prices::Prices;
use super::readiness::Readiness;
use super::unit_limiter::UnitLimiter;
use super::vault::Vault;
use super::wake::{Effects, Hub, Nudges};
use crate::lists::Lists;
use crate::smtp::Mailer;
use till_watch::{Nodes, Watching};

/// What an operator can set about how the engine works.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    pub public_url: String,
    pub checkout_url: String,
    /// Which of several installations behind one address this is.
    pub shard: Option<String>,
    pub live_mode: bool,
    /// The demo server answers some calls of the test helper with codes of its own.
    pub demo: bool,
    pub allow_private_webhooks: bool,
    pub pool_max: i64,
    pub cooldown_ms: i64,
    /// The same for an address that nothing was sent to.
    pub unpaid_cooldown_ms: i64,
    pub bitcoin_gap_limit: i64,
    pub life_ms: i64,
    pub volatile_life_ms: i64,
    /// How long after its time such an invoice takes the rest of what was paid in part in such an asset.
    pub volatile_rest_ms: i64,
    pub select_ms: i64,
    /// How long a further attempt to charge a subscription's period stays open.
    pub attempt_ms: i64,
    /// A wallet is bound only with its signature.
    pub require_wallet_proof: bool,
    /// Networks with endpoints, by CAIP-2 id. In live mode nothing is offered on any other: nobody would see it arrive.
    pub watched: BTreeSet<String>,
    /// Networks credited below `final`, by CAIP-2 id.
    pub credit_at: BTreeMap<String, Level>,
    /// From which figure of its own currency on an invoice is credited at `final` there, whatever else is set.
    pub final_above: BTreeMap<String, String>,
    /// By network: how much deeper than final a block must lie for large invoices.
    pub final_depths: BTreeMap<String, FinalDepths>,
    pub limits: EngineLimits,
    pub dashboard: DashboardConfig,
}

impl EngineConfig {
    /// A credential that is made here, beginning with the shard's name: a router can read from it where it belongs.
    pub fn with_shard(&self, random: &str) -> String {
        match &self.shard {
            Some(shard) => format!("{shard}_{random}"),
            None => random.to_owned(),
        }
    }
}

/// Who may come to the dashboard, where it is, and how long things take there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DashboardConfig {
    pub is_enabled: bool,
    /// Without a slash at its end. Links are made from it, never from what a request says.
    pub url: String,
    pub signup: Signup,
    pub change_delay_ms: i64,
    pub session_idle_ms: i64,
    pub session_max_ms: i64,
}

/// Who lets people in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signup {
    /// Only the command line.
    Closed,
    /// Members, too.
    Invite,
    /// Anybody with an email address.
    Open,
}

impl Default for DashboardConfig {
    fn default() -> DashboardConfig {
        DashboardConfig {
            is_enabled: true,
            url: "http://localhost:4242/dashboard".to_owned(),
            signup: Signup::Invite,
            change_delay_ms: 86_400_000,
            session_idle_ms: 43_200_000,
            session_max_ms: 604_800_000,
        }
    }
}

impl DashboardConfig {
    /// The origin that requests must come from: scheme, host and port.
    pub fn origin(&self) -> String {
        let url = url::Url::parse(&self.url).ok();
        url.map(|url| url.origin().ascii_serialization())
            .unwrap_or_default()
    }

    /// The host, which passkeys are bound to.
    pub fn host(&self) -> String {
        let url = url::Url::parse(&self.url).ok();
        url.and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or_default()
    }

    pub fn is_https(&self) -> bool {
        self.url.starts_with("https://")
    }

    /// Browsers take a session's cookie over plain http only from the own machine.
    pub fn is_safe(&self) -> bool {
        self.is_https() || self.host() == "localhost"
    }
}

/// How much of the server one party may take, and how long things are kept.
#[derive(Clone, Debug)]
pub struct EngineLimits {
    /// Unpaid invoices that one client may have open at one payment link.
    pub open_link_invoices_per_client: i64,
    /// Those of them for which a network was picked.
    pub picked_link_invoices_per_client: i64,
    /// Webhooks under way at a time, to all receivers together.
    pub webhooks_under_way: usize,
    pub retention: Retention,
}

/// Days that things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub deliveries_d: i64,
    /// Superseded leases of addresses, too.
    pub events_d: i64,
    /// After the invoice closed.
    pub payer_contacts_d: i64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention {
            deliveries_d: 90,
            events_d: 400,
            payer_contacts_d: 30,
        }
    }
}

impl Default for EngineLimits {
    fn default() -> EngineLimits {
        EngineLimits {
            open_link_invoices_per_client: 5,
            picked_link_invoices_per_client: 2,
            webhooks_under_way: 128,
            retention: Retention::default(),
        }
    }
}

pub struct Engine {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: Ids,
    pub config: EngineConfig,
    pub vault: Vault,
    pub prices: Prices,
    pub hub: Hub,
    /// Numbers of deposit addresses taken ahead.
    pub numbers: Numbers,
    pub nudges: Nudges,
    pub unit_limiter: UnitLimiter,
    pub key_uses: KeyUses,
    pub readiness: Readiness,
    pub jumps: Jumps,
    /// None when this server sends no mail.
    pub mailer: Option<Mailer>,
    /// None when no network's endpoints are configured.
    pub nodes: Option<Nodes>,
    /// None when no network that can be watched has endpoints.
    pub watching: Option<Watching>,
    /// Where prices are asked for; none where they are fixed or there are none.
    pub feeds: Option<Feeds>,
    /// What addresses are held against; none where only the documented ones of test mode are.
    pub lists: Option<Lists>,
}

impl Engine {
    pub fn new(
        db: Db,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        config: EngineConfig,
        vault: Vault,
        prices: Prices,
    ) -> Engine {
        let ids = Ids::new(Arc::clone(&clock), entropy);
        Engine {
            unit_limiter: UnitLimiter::new(db.writers()),
            db,
            clock,
            ids,
            config,
            vault,
            prices,
            hub: Hub::default(),
            numbers: Numbers::default(),
            nudges: Nudges::default(),
            key_uses: KeyUses::default(),
            readiness: Readiness::default(),
            jumps: Jumps::default(),
            mailer: None,
            nodes: None,
            watching: None,
            feeds: None,
            lists: None,
        }
    }

    #[must_use]
    pub fn with_mailer(self, mailer: Option<Mailer>) -> Engine {
        Engine { mailer, ..self }
    }

    #[must_use]
    pub fn with_nodes(self, nodes: Option<Nodes>) -> Engine {
        Engine { nodes, ..self }
    }

    #[must_use]
    pub fn with_watching(self, watching: Option<Watching>) -> Engine {
        Engine { watching, ..self }
    }

    #[must_use]
    pub fn with_feeds(self, feeds: Option<Feeds>) -> Engine {
        Engine { feeds, ..self }
    }

    #[must_use]
    pub fn with_lists(self, lists: Option<Lists>) -> Engine {
        Engine { lists, ..self }
    }

    pub fn tell(&self, effects: &Effects) {
        let effects = effects.take();
        for invoice in &effects.streams {
            self.hub.nudge(invoice);
        }
        for scope in effects.deliveries {
            self.nudges.webhooks(scope);
        }
        if effects.mail {
            self.nudges.mail();
        }
    }

    /// The time by the clock that all servers share, asked for now: this machine may have been paused since it was last told.
    pub async fn ask_the_time(&self, tx: &mut Tx) -> Result<i64, StoreError> {
        if let Some(shared) = tx.clock_ms().await? {
            self.clock.follow(shared);
        }
        Ok(self.clock.now_ms())
    }

    /// The level at which a payment of an invoice of this price counts.
    pub fn credit_at(&self, network: &str, minor: u64, currency: Currency) -> Level {
        let level = self.config.credit_at.get(network).copied();
        let is_large = self.config.final_above.get(network).is_some_and(|figure| {
            // What cannot be compared is large.
            at_or_above(minor, currency, figure).unwrap_or(true)
        });
        match level {
            Some(level) if !is_large => level,
            _ => Level::Final,
        }
    }
}

/// From which figure of an invoice's price on how many more blocks must lie on a final one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalDepths(pub BTreeMap<String, u32>);

impl FinalDepths {
    /// For an invoice of this price.
    pub fn more_for(&self, minor: u64, currency: Currency) -> i64 {
        let is_reached = |figure: &str| at_or_above(minor, currency, figure).unwrap_or(true);
        let reached = self.0.iter().filter(|(figure, _)| is_reached(figure));
        reached.map(|(_, more)| i64::from(*more)).max().unwrap_or(0)
    }

    /// For the largest one.
    pub fn most(&self) -> i64 {
        self.0.values().copied().max().unwrap_or(0).into()
    }
}

/// More decimals than any currency has.
const FIGURE_DECIMALS: u32 = 18;

fn at_or_above(minor: u64, currency: Currency, figure: &str) -> Option<bool> {
    let figure = money::parse(figure, FIGURE_DECIMALS).ok()?.0;
    let scale = 10u128.checked_pow(FIGURE_DECIMALS.checked_sub(currency.decimals())?)?;
    Some(u128::from(minor).checked_mul(scale)? >= figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_compared_exactly_in_the_currency_own_decimals() {
        let usd = Currency::parse("USD").unwrap();
        for (minor, figure, expected) in [
            (99_999, "1000", false),
            (100_000, "1000", true),
            (100_000, "1000.00", true),
            (100_000, "1000.001", false),
            (u64::MAX, "1000", true),
        ] {
            assert_eq!(
                at_or_above(minor, usd, figure),
                Some(expected),
                "{minor} {figure}"
            );
        }
        assert_eq!(at_or_above(1, usd, "many"), None);
        let depths = [("100", 2), ("10000", 6), ("5000", 4)];
        let depths = depths.map(|(figure, more)| (figure.to_owned(), more));
        let depths = FinalDepths(BTreeMap::from(depths));
        let more = [9_999, 10_000, 500_000, 1_000_000].map(|it| depths.more_for(it, usd));
        assert_eq!((more, depths.most()), ([0, 2, 4, 6], 6));
    }
}
