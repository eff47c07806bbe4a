//! What a server that takes real money has, ticked off by `till check`: the list of the README, "Running it for real".

use till_core::asset::{Mode, Registry};
use till_core::scope::Scope;
use till_engine::base::clock::Clock as _;
use till_store::{Db, accounts, installation};

use crate::config::Config;
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

/// An item, and what is missing of it.
type Item = (&'static str, Option<&'static str>);

/// What the checks before it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckFindings {
    pub has_webhook: bool,
    /// The networks of which an endpoint answered as it should.
    pub networks: Vec<String>,
    /// What is set and failed, so that it is not ticked off.
    pub tls_failed: bool,
    pub mail_failed: bool,
    pub lists_failed: bool,
    pub is_backed_up: bool,
}

const FAILED: &str = "it is set and fails, see above";

/// In the order of the README. None of them fails anything: a server in test mode needs none.
pub fn print(config: &Config, found: &CheckFindings) -> Result<(), Failure> {
    let mut text = "For real money (README, \"Running it for real\"):\n".to_owned();
    for (name, missing) in items(config, found) {
        text.push_str(&match missing {
            None => format!("[x] {name}\n"),
            Some(missing) => format!("[ ] {name} — {missing}\n"),
        });
    }
    output::print(&text)
}

fn items(config: &Config, found: &CheckFindings) -> [Item; 8] {
    let missing = |is_there: bool, what: &'static str| (!is_there).then_some(what);
    let failed = |is_so: bool| is_so.then_some(FAILED);
    let live = live_networks(config);
    let watches = live.iter().any(|id| found.networks.contains(id));
    let is_https = config
        .urls(config.server.listen)
        .public
        .starts_with("https://");
    [
        (
            "live mode",
            missing(config.server.live_mode, "set server.live_mode = true"),
        ),
        (
            "https",
            missing(
                is_https,
                "set server.tls_certificate and server.tls_key, or a proxy's address as server.public_url",
            )
            .or(failed(found.tls_failed)),
        ),
        (
            "a watched network",
            missing(
                !live.is_empty(),
                "give a live network endpoints: networks.<caip2>.rpc",
            )
            .or(failed(!watches)),
        ),
        (
            "a webhook in live mode",
            missing(
                found.has_webhook,
                "till account set-webhook --account ID --mode live --url URL",
            ),
        ),
        (
            "mail",
            missing(
                config.mail.smtp_url.is_some() && config.mail.from.is_some(),
                "set mail.smtp_url and mail.from, or payers get no receipts",
            )
            .or(failed(found.mail_failed)),
        ),
        (
            "screening lists",
            missing(
                !config.screening.lists.is_empty(),
                "set screening.lists, or every refund claim goes to review",
            )
            .or(failed(found.lists_failed)),
        ),
        (
            "backups",
            missing(
                found.is_backed_up,
                "no copy was made in the last seven days: run till backup every night, or another tool and then till backup --made-elsewhere, or the books are lost with the disk",
            ),
        ),
        (
            "metrics and alerts",
            missing(
                config.metrics.listen.is_some(),
                "set metrics.listen and load docs/alerts.yml, or nobody is told when it fails",
            ),
        ),
    ]
}

/// Those with endpoints.
fn live_networks(config: &Config) -> Vec<String> {
    let registry = Registry::builtin();
    let with_endpoints = config.networks.iter().filter(|(_, it)| it.has_endpoints());
    with_endpoints
        .filter_map(|(id, _)| registry.network(id))
        .filter(|network| network.mode == Mode::Live)
        .map(|network| network.id.clone())
        .collect()
}

pub async fn has_live_webhook(db: &Db) -> bool {
    let found = async {
        let mut reader = db.read().await?;
        for account in accounts::all(&mut reader).await? {
            let scope = Scope::new(&account.id, Mode::Live);
            let merchant = accounts::merchant(&mut reader, &scope).await?;
            if merchant.is_some_and(|merchant| merchant.webhook_url.is_some()) {
                return Ok::<_, Failure>(true);
            }
        }
        Ok(false)
    };
    found.await.unwrap_or(false)
}

pub async fn is_backed_up(db: &Db) -> bool {
    let found = async {
        let mut reader = db.read().await?;
        installation::backed_up_at(&mut reader).await
    };
    let copied_at = found.await.ok().flatten();
    till_engine::team::home::is_backed_up(copied_at, SystemClock::start().now_ms())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn open(file: &str, found: &CheckFindings) -> Vec<&'static str> {
        let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
        let items = items(&config, found).into_iter();
        items
            .filter(|(_, missing)| missing.is_some())
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn each_item_is_ticked_off_by_what_it_names() {
        assert_eq!(open("", &CheckFindings::default()).len(), 8);
        let all = "[server]\nlive_mode = true\npublic_url = \"https://pay.example\"\n\
            [networks.\"eip155:8453\"]\nrpc = [\"https://base.example\"]\n\
            [mail]\nsmtp_url = \"smtps://mail.example\"\nfrom = \"till@shop.example\"\n\
            [screening]\nlists = [{name = \"a\", source = \"a.txt\", format = \"plain\"}]\n\
            [metrics]\nlisten = \"127.0.0.1:9090\"\n";
        let fine = CheckFindings {
            has_webhook: true,
            networks: vec!["eip155:8453".to_owned()],
            is_backed_up: true,
            ..CheckFindings::default()
        };
        assert_eq!(open(all, &fine), Vec::<&str>::new());
        let without = CheckFindings {
            has_webhook: false,
            ..fine.clone()
        };
        assert_eq!(open(all, &without), ["a webhook in live mode"]);
        let test_network = all.replace("eip155:8453", "eip155:84532");
        assert_eq!(open(&test_network, &fine), ["a watched network"]);
        let failing = CheckFindings {
            has_webhook: true,
            networks: Vec::new(),
            tls_failed: true,
            mail_failed: true,
            lists_failed: true,
            is_backed_up: false,
        };
        let failed = [
            "https",
            "a watched network",
            "mail",
            "screening lists",
            "backups",
        ];
        assert_eq!(open(all, &failing), failed, "what fails is not ticked off");
    }
}
