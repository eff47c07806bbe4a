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
    let policy = policy(&api)?;
    let index = with_policy(pages.index().unwrap_or_default(), &policy);
    write(&export.to.join(INDEX), index.as_bytes())?;
    // Hosts that know no rewriting show this one for i/…, l/… and r/…, and it works there.
    write(&export.to.join("404.html"), index.as_bytes())?;
    for (name, text) in headers(&policy) {
        write(&export.to.join(name), text.as_bytes())?;
    }
    let fresh = PageConfig::own_host(&merchant, &api);
    let said = pins(&export.to.join(CONFIG), &fresh)?;
    let folder = export.to.display();
    output::print(&format!(
        "The checkout pages are in {folder}. {said}\n\
         Serve index.html for every path below i/, l/ and r/, send the headers that _headers and nginx.conf have, \
         and set server.checkout_url to where it is.\n"
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

/// What the page may load and ask.
fn policy(api: &str) -> Result<String, Failure> {
    let api =
        Url::parse(api).map_err(|error| Failure::new(format!("server.public_url: {error}")))?;
    Ok(format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' {}; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        api.origin().ascii_serialization()
    ))
}

/// A page on another host says in itself what its server would say in a header, as far as a page can.
fn with_policy(index: &str, policy: &str) -> String {
    let tag = format!("<meta http-equiv=\"content-security-policy\" content=\"{policy}\">");
    // Before anything that it is to judge.
    index.replacen(
        "<meta charset=\"utf-8\">",
        &format!("<meta charset=\"utf-8\">\n{tag}"),
        1,
    )
}

/// The headers that the folder's host should send, as hosts for files and nginx want to read them: who may frame a
/// page cannot be said in it.
fn headers(policy: &str) -> [(&'static str, String); 2] {
    let policy = format!("{policy}; frame-ancestors 'none'");
    let hosts = format!(
        "/*\n  Content-Security-Policy: {policy}\n  X-Content-Type-Options: nosniff\n  Referrer-Policy: no-referrer\n\
         /config.json\n  Cache-Control: no-cache\n\
         /assets/*\n  Cache-Control: public, max-age=31536000, immutable\n"
    );
    let nginx = format!(
        "# Include this in the server block whose root is this folder.\n\
         add_header Content-Security-Policy \"{policy}\" always;\n\
         add_header X-Content-Type-Options nosniff always;\n\
         add_header Referrer-Policy no-referrer always;\n\
         location ~ ^/[ilr]/ {{ expires -1; try_files /index.html =404; }}\n\
         location = /config.json {{ expires -1; }}\n\
         location /assets/ {{ expires max; }}\n"
    );
    [("_headers", hosts), ("nginx.conf", nginx)]
}

/// Writes the pins, or leaves those that are there: they are the merchant's, and so may be the rest of the
/// file. What differs is said.
fn pins(path: &Path, fresh: &PageConfig) -> Result<&'static str, Failure> {
    let fresh = serde_json::to_value(fresh).map_err(|error| Failure::new(error.to_string()))?;
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
