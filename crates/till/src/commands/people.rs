//! `till account invite`, `till operator` and `till user`: who may come to the dashboard.

use clap::Args;
use serde::Serialize;
use till_core::role::Role;
use till_core::time;
use till_engine::Engine;
use till_engine::team::command_line::{self, Invited, UserLink};
use till_engine::team::emails::Email;
use till_engine::team::links::NewLink;

use crate::commands::accounts::no_account;
use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct Invite {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    /// Whom to invite
    #[arg(long, value_parser = email)]
    email: Email,
    /// owner (default), admin, developer, support or viewer
    #[arg(hide_default_value = true, long, default_value = "owner", value_parser = role)]
    role: Role,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Person {
    /// Whose address it is
    #[arg(long, value_parser = email)]
    email: Email,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Address {
    /// Whose address it is
    #[arg(long, value_parser = email)]
    email: Email,
}

pub fn email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|_| "this is no email address".to_owned())
}

fn role(text: &str) -> Result<Role, String> {
    let roles = "the role is owner, admin, developer, support or viewer";
    Role::parse(text).ok_or_else(|| roles.to_owned())
}

#[derive(Serialize)]
struct ShownInvite<'a> {
    invite: &'a str,
    link: &'a str,
    expires_at: String,
}

#[derive(Serialize)]
struct ShownUser<'a> {
    user: &'a str,
    link: &'a str,
    expires_at: String,
}

fn print_link(what: &str, link: &NewLink) -> Result<(), Failure> {
    let until = time::show(link.expires_at);
    output::print(&format!("{what}, until {until}:\n\n  {}\n", link.link))
}

pub async fn invite(config: &Config, new: &Invite) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let invited = command_line::invite(&engine, &new.account, &new.email, new.role, false).await;
    let disabled = is_disabled(&engine, &new.account).await;
    engine.db.clone().close().await;
    let invited = invited?.ok_or_else(|| no_account(&new.account))?;
    if disabled? {
        output::remark(&[format!(
            "this account is disabled, so the link is refused until `till account enable --account {}`",
            new.account
        )]);
    }
    let Invited { invite, link } = &invited;
    match new.json {
        true => output::print_json(&ShownInvite {
            invite,
            link: &link.link,
            expires_at: time::show(link.expires_at),
        }),
        false => print_link("The invitation, to be opened once", link),
    }
}

async fn is_disabled(engine: &Engine, account: &str) -> Result<bool, Failure> {
    let mut reader = engine.db.read().await?;
    Ok(till_store::accounts::is_disabled(&mut reader, account).await?)
}

fn print_user(found: &UserLink, json: bool) -> Result<(), Failure> {
    let UserLink { user, link, .. } = found;
    match json {
        true => output::print_json(&ShownUser {
            user,
            link: &link.link,
            expires_at: time::show(link.expires_at),
        }),
        false => print_link("A link to sign in with, once", link),
    }
}

/// The address itself is not repeated: what is typed at a shell ends up in logs.
fn nobody() -> Failure {
    Failure::new("nobody here has this address")
}

pub async fn create_operator(config: &Config, person: &Person) -> Result<(), Failure> {
    check_has_key(config).await?;
    let engine = compose::engine_on_existing(config).await?;
    let made = command_line::create_operator(&engine, &person.email).await;
    engine.db.clone().close().await;
    let made = made?;
    if made.was_reset {
        eprintln!(
            "till: nobody had shown that this address is theirs, so the passkeys, codes and sessions under it were removed: sign in with this link"
        );
    }
    print_user(&made, person.json)
}

/// An address is encrypted with the database's key, and this command makes none.
async fn check_has_key(config: &Config) -> Result<(), Failure> {
    let db = database::open_existing(&config.database).await?;
    let is_new = compose::is_new(&db).await;
    db.close().await;
    match is_new? {
        true => Err(Failure::new(
            "this database has no key to encrypt with yet: run `till serve` or `till account create` first",
        )),
        false => Ok(()),
    }
}

pub async fn remove_operator(config: &Config, address: &Address) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let removed = command_line::remove_operator(&engine, &address.email).await;
    engine.db.clone().close().await;
    let line = match removed?.ok_or_else(nobody)? {
        true => "no operator any more\n",
        false => "no operator anyway\n",
    };
    output::print(line)
}

pub async fn user_link(config: &Config, person: &Person) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let made = command_line::sign_in_link(&engine, &person.email).await;
    engine.db.clone().close().await;
    print_user(&made?.ok_or_else(nobody)?, person.json)
}

pub async fn reset_user(config: &Config, person: &Person) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let reset = command_line::reset(&engine, &person.email).await;
    engine.db.clone().close().await;
    print_user(&reset?.ok_or_else(nobody)?, person.json)
}
