//! `till demo`: everything in memory, in test mode, with an account to try it with.

mod clock;
mod story;

use std::sync::Arc;

use serde::Serialize;
use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::scope::{Credential, Scope};
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::Gatherer;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::merchants::accounts::{Modes, NewAccount, create_account};
use till_engine::once::Once;

use self::clock::PastClock;
use self::story::Story;
use crate::compose;
use crate::config::{Config, Urls};
use crate::failure::Failure;
use crate::handles;
use crate::logging::Log;
use crate::output;
use crate::server::{self, Server};

/// What scripts read from the first line.
#[derive(Serialize)]
struct ShownDemo<'a> {
    base_url: &'a str,
    /// Where payers' pages are.
    checkout_url: &'a str,
    /// Where the merchant's own pages are; they sign themselves in.
    dashboard_url: &'a str,
    docs_url: &'a str,
    openapi_url: String,
    health_url: String,
    account: &'a str,
    secret_key: &'a str,
    publishable_key: &'a str,
    webhook_secret: &'a str,
}

pub async fn run(config: Config, json: bool, log: Log) -> Result<(), Failure> {
    let config = for_demo(config);
    // Scripts start from nothing; people get something to look at.
    match prepare(&config, !json).await {
        Err(failure) => {
            log.give_up();
            Err(failure)
        }
        Ok((server, account)) => {
            let urls = server.urls.clone();
            let show = async |gatherer: &Gatherer| show(gatherer, &urls, &account, json).await;
            server::run(server, &config, log, show).await
        }
    }
}

/// A demo keeps nothing and moves no money, whatever is configured for the real server beside it.
fn for_demo(mut config: Config) -> Config {
    "sqlite::memory:".clone_into(&mut config.database.url);
    config.secrets.key_file.clear();
    config.server.live_mode = false;
    (config.server.tls_certificate, config.server.tls_key) = (None, None);
    config.webhooks.allow_private_addresses = true;
    config
}

async fn prepare(config: &Config, has_past: bool) -> Result<(Server, NewAccount), Failure> {
    handles::raise();
    let listener = server::bind(config.server.listen).await?;
    let urls = config.urls(listener.1);
    let clock = Arc::new(PastClock::start());
    let engine = compose::demo_engine(config, &urls, clock.clone()).await?;
    let account = create_account(&engine, "Demo", Modes::TestOnly, &[]).await?;
    if has_past {
        let story = Story {
            engine: &engine,
            gatherer: &Gatherer::start(&engine, 1),
            clock: &clock,
            scope: &Scope::new(&account.id, Mode::Test),
        };
        story.tell().await?;
    }
    let server = Server {
        engine,
        listener: Some(listener),
        metrics: server::metrics_listener(config).await?,
        urls,
        workers: true,
        again: None,
        tls: None,
    };
    Ok((server, account))
}

async fn show(
    gatherer: &Gatherer,
    urls: &Urls,
    account: &NewAccount,
    json: bool,
) -> Result<(), Failure> {
    let keys = &account.test;
    let shown = ShownDemo {
        base_url: &urls.public,
        checkout_url: &urls.checkout,
        dashboard_url: &urls.dashboard,
        docs_url: &urls.docs,
        openapi_url: format!("{}/openapi.json", urls.public),
        health_url: format!("{}/healthz", urls.public),
        account: &account.id,
        secret_key: &keys.secret_key,
        publishable_key: &keys.publishable_key,
        webhook_secret: &keys.webhook_secret,
    };
    if json {
        return output::print_json(&shown);
    }
    let checkout = example_checkout(gatherer, &account.id).await?;
    let rows = [
        ("Base URL", shown.base_url),
        ("Account", shown.account),
        ("Secret key", shown.secret_key),
        ("Publishable key", shown.publishable_key),
        ("Webhook secret", shown.webhook_secret),
        ("Dashboard", shown.dashboard_url),
        ("Documentation", &urls.docs),
        ("A checkout to try", &checkout),
    ];
    output::print(&format!(
        "Till demo: test mode, in memory, gone when it stops (Ctrl-C).\n\n{}\n\
         For the samples of the documentation, in another terminal:\n\n{}\n\
         A first request to paste there:\n\n  {}\n\n",
        output::columns(&rows),
        variables(&shown),
        first_request(&shown)
    ))
}

/// What the guides' samples and the commands for developers read.
fn variables(shown: &ShownDemo<'_>) -> String {
    let values = [
        ("TILL_URL", shown.base_url),
        ("TILL_SECRET_KEY", shown.secret_key),
        ("TILL_PUBLISHABLE_KEY", shown.publishable_key),
    ];
    let lines = values.map(|(name, value)| format!("  export {name}={value}\n"));
    lines.concat()
}

/// One line, whole: it makes an invoice.
fn first_request(shown: &ShownDemo<'_>) -> String {
    format!(
        "curl -s {}/v1/invoices -H 'Authorization: Bearer {}' -H 'Idempotency-Key: first-1' \
         -H 'Content-Type: application/json' -d '{{\"amount\":\"25.00\",\"currency\":\"USD\"}}'",
        shown.base_url, shown.secret_key
    )
}

async fn example_checkout(gatherer: &Gatherer, account: &str) -> Result<String, Failure> {
    let request = CreateInvoice {
        scope: Scope::new(account, Mode::Test),
        once: Once::new(
            Actor::System,
            Credential::Merchant,
            "till-demo".to_owned(),
            "POST",
            "/v1/invoices",
            b"",
        ),
        request: NewInvoice {
            amount: "25.00".to_owned(),
            currency: "USD".to_owned(),
            description: Some("A demo order".to_owned()),
            ..NewInvoice::default()
        },
        wanted: PendingRequest::default(),
    };
    let answer = gatherer.create(request).await?;
    let invoice: serde_json::Value = serde_json::from_slice(&answer.body)
        .map_err(|error| Failure::new(format!("the example invoice: {error}")))?;
    let link = invoice["checkout_url"].as_str();
    link.map(str::to_owned)
        .ok_or_else(|| Failure::new("the example invoice has no checkout link"))
}
