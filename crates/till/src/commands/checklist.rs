//! What a server that takes real money has, ticked off by `till check`: the list of the README, "Running it for real".

use till_core::asset::{Mode, Registry};
use till_core::scope::Scope;
use till_store::{Db, accounts};

use crate::config::Config;
use crate::failure::Failure;
use crate::output;

/// An item, and what is missing of it.
type Item = (&'static str, Option<&'static str>);

/// In the order of the README. None of them fails anything: a server in test mode needs none.
pub async fn print(config: &Config, db: Option<&Db>) -> Result<(), Failure> {
    let has_webhook = match db {
        Some(db) => has_live_webhook(db).await,
        None => false,
    };
    let mut text = "For real money (README, \"Running it for real\"):\n".to_owned();
    for (name, missing) in items(config, has_webhook) {
        text.push_str(&match missing {
            None => format!("[x] {name}\n"),
            Some(missing) => format!("[ ] {name} — {missing}\n"),
        });
    }
    output::print(&text)
}

fn items(config: &Config, has_webhook: bool) -> [Item; 7] {
    let missing = |is_there: bool, what: &'static str| (!is_there).then_some(what);
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
            ),
        ),
        (
            "a watched network",
            missing(
                watches_live(config),
                "give a live network endpoints: networks.<caip2>.rpc",
            ),
        ),
        (
            "a webhook in live mode",
            missing(
                has_webhook,
                "till account set-webhook --account ID --mode live --url URL",
            ),
        ),
        (
            "mail",
            missing(
                config.mail.smtp_url.is_some() && config.mail.from.is_some(),
                "set mail.smtp_url and mail.from, or payers get no receipts",
            ),
        ),
        (
            "screening lists",
            missing(
                !config.screening.lists.is_empty(),
                "set screening.lists, or every refund claim goes to review",
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

fn watches_live(config: &Config) -> bool {
    let registry = Registry::builtin();
    config.networks.iter().any(|(id, settings)| {
        let network = registry.network(id);
        !settings.rpc.is_empty() && network.is_some_and(|it| it.mode == Mode::Live)
    })
}

async fn has_live_webhook(db: &Db) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn open(file: &str, has_webhook: bool) -> Vec<&'static str> {
        let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
        let items = items(&config, has_webhook).into_iter();
        items
            .filter(|(_, missing)| missing.is_some())
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn each_item_is_ticked_off_by_what_it_names() {
        assert_eq!(open("", false).len(), 7);
        let all = "[server]\nlive_mode = true\npublic_url = \"https://pay.example\"\n\
            [networks.\"eip155:8453\"]\nrpc = [\"https://base.example\"]\n\
            [mail]\nsmtp_url = \"smtps://mail.example\"\nfrom = \"till@shop.example\"\n\
            [screening]\nlists = [{name = \"a\", source = \"a.txt\", format = \"plain\"}]\n\
            [metrics]\nlisten = \"127.0.0.1:9090\"\n";
        assert_eq!(open(all, true), Vec::<&str>::new());
        assert_eq!(open(all, false), ["a webhook in live mode"]);
        let test_network = all.replace("eip155:8453", "eip155:84532");
        assert_eq!(open(&test_network, true), ["a watched network"]);
    }
}
