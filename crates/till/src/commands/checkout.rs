//! `till checkout export`: the checkout pages for a merchant's own host. There the pins are out of this
//! server's reach, which is what they are for.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;
use till_core::asset;
use till_core::scope::Scope;
use till_engine::base::Merchant;
use till_engine::view::PageConfig;
use url::Url;

use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;
use crate::pages;

#[derive(Debug, Args)]
pub struct Export {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    /// The folder to write; a config.json in it is kept
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    Test,
    Live,
}

const INDEX: &str = "index.html";
const CONFIG: &str = "config.json";

pub async fn export(config: &Config, export: &Export) -> Result<(), Failure> {
    let pages = pages::checkout();
    if pages.index().is_none() {
        return Err(Failure::new(
            "this program was built without the checkout pages: run `make web`, then build it again",
        ));
    }
    let merchant = merchant(config, export).await?;
    let api = config.urls(config.server.listen).public;
    for (name, bytes) in pages.unpacked() {
        if name != INDEX {
            write(&export.to.join(name), &bytes)?;
        }
    }
    let index = with_policy(pages.index().unwrap_or_default(), &api)?;
    write(&export.to.join(INDEX), index.as_bytes())?;
    // Hosts that know no rewriting show this one for i/…, l/… and r/…, and it works there.
    write(&export.to.join("404.html"), index.as_bytes())?;
    let said = pins(&export.to.join(CONFIG), &merchant, &api)?;
    let folder = export.to.display();
    output::print(&format!(
        "The checkout pages are in {folder}. {said}\n\
         Serve index.html for every path below i/, l/ and r/, and set server.checkout_url to where it is.\n"
    ))
}

async fn merchant(config: &Config, export: &Export) -> Result<Merchant, Failure> {
    let mode = match export.mode {
        Mode::Test => asset::Mode::Test,
        Mode::Live => asset::Mode::Live,
    };
    let scope = Scope::new(&export.account, mode);
    let engine = compose::engine_without_secrets(config).await?;
    let mut reader = engine.db.read().await?;
    let row = till_store::accounts::merchant(&mut reader, &scope).await?;
    drop(reader);
    engine.db.close().await;
    let row = row.ok_or_else(|| {
        let account: String = export.account.chars().take(64).collect();
        Failure::new(format!(
            "there is no account {account:?} with {} mode",
            mode.as_str()
        ))
    })?;
    Ok(Merchant { row })
}

/// A page on another host says in itself what its server would say in a header, as far as a page can.
fn with_policy(index: &str, api: &str) -> Result<String, Failure> {
    let api =
        Url::parse(api).map_err(|error| Failure::new(format!("server.public_url: {error}")))?;
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' {}; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        api.origin().ascii_serialization()
    );
    let tag = format!("<meta http-equiv=\"content-security-policy\" content=\"{policy}\">");
    // Before anything that it is to judge.
    Ok(index.replacen(
        "<meta charset=\"utf-8\">",
        &format!("<meta charset=\"utf-8\">\n{tag}"),
        1,
    ))
}

/// Writes the pins, or leaves those that are there: they are the merchant's, and so may be the rest of the
/// file. What differs is said.
fn pins(path: &Path, merchant: &Merchant, api: &str) -> Result<&'static str, Failure> {
    let fresh = PageConfig::own_host(merchant, api);
    let fresh = serde_json::to_value(&fresh).map_err(|error| Failure::new(error.to_string()))?;
    let Ok(text) = fs::read_to_string(path) else {
        let text = format!("{fresh:#}\n");
        write(path, text.as_bytes())?;
        return Ok(
            "Its config.json pins the registered destinations: compare them with your wallet.",
        );
    };
    let kept: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    Ok(
        match kept.get("destinations") == fresh.get("destinations") {
            true => "Its config.json was kept.",
            false => {
                "Its config.json was kept, and pins other destinations than are registered now."
            }
        },
    )
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = match path.parent() {
        Some(folder) => fs::create_dir_all(folder),
        None => Ok(()),
    };
    made.and_then(|()| fs::write(path, bytes))
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))
}
