//! `till account create`

use clap::Args;
use serde::Serialize;
use till_chains::{AddressError, parse_destination};
use till_core::asset::{Family, Mode};
use till_core::limits::DISPLAY_NAME_CHARS_MAX;
use till_core::organization::organization_name;
use till_core::role::Role;
use till_core::time;
use till_engine::merchants::accounts::{ModeKeys, Modes, NewAccount, create_account};
use till_engine::merchants::{destinations, names};
use till_engine::team::command_line;
use till_engine::team::emails::Email;
use till_engine::team::links::NewLink;

use crate::commands::people;
use crate::compose::{self, Purpose};
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct Create {
    /// What the account is called
    #[arg(long)]
    name: String,
    /// Make live keys too
    #[arg(long)]
    live: bool,
    /// Where payments go, per family
    #[arg(long, value_name = "FAMILY=ADDRESS", value_parser = destination)]
    destination: Vec<Destination>,
    /// Invite its owner to the dashboard
    #[arg(long, value_name = "EMAIL", value_parser = people::email)]
    owner: Option<Email>,
    /// Make the owner an operator of the server
    #[arg(long, requires = "owner")]
    operator: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug)]
pub struct Destination {
    pub family: Family,
    pub address: String,
}

/// The form alone: a wrong address is told apart later, in words that do not repeat it.
pub fn destination(text: &str) -> Result<Destination, String> {
    let (family, address) = text.split_once('=').ok_or("write FAMILY=ADDRESS")?;
    let family =
        Family::from_namespace(family).ok_or("the family is eip155, tron, bip122 or solana")?;
    Ok(Destination {
        family,
        address: address.trim().to_owned(),
    })
}

#[derive(Serialize)]
struct ShownAccount<'a> {
    account: &'a str,
    test: ShownKeys<'a>,
    live: Option<ShownKeys<'a>>,
    /// The owner's invitation.
    dashboard_link: Option<&'a str>,
}

#[derive(Serialize)]
struct ShownKeys<'a> {
    secret_key: &'a str,
    publishable_key: &'a str,
    webhook_secret: &'a str,
}

impl<'a> ShownKeys<'a> {
    fn of(keys: &'a ModeKeys) -> ShownKeys<'a> {
        ShownKeys {
            secret_key: &keys.secret_key,
            publishable_key: &keys.publishable_key,
            webhook_secret: &keys.webhook_secret,
        }
    }
}

pub async fn create(config: &Config, create: &Create) -> Result<(), Failure> {
    let name = name(&create.name)?;
    let modes = match create.live {
        true => Modes::TestAndLive,
        false => Modes::TestOnly,
    };
    let given = by_mode(&create.destination, modes)?;
    let urls = config.urls(config.server.listen);
    let engine = compose::engine(config, &urls, Purpose::Command).await?;
    let account = create_account(&engine, name, modes, &given).await?;
    let link = match &create.owner {
        Some(owner) => {
            let (role, operator) = (Role::Owner, create.operator);
            let invited = command_line::invite(&engine, &account.id, owner, role, operator);
            invited.await?.map(|invited| invited.link)
        }
        None => None,
    };
    engine.db.clone().close().await;
    show(&account, link.as_ref(), create.json)
}

fn show(account: &NewAccount, link: Option<&NewLink>, json: bool) -> Result<(), Failure> {
    if json {
        return output::print_json(&ShownAccount {
            account: &account.id,
            test: ShownKeys::of(&account.test),
            live: account.live.as_ref().map(ShownKeys::of),
            dashboard_link: link.map(|link| &*link.link),
        });
    }
    let mut text = format!(
        "Account {}. Keep these: they are not shown again.\n",
        account.id
    );
    let modes = [
        ("Test", Some(&account.test)),
        ("Live", account.live.as_ref()),
    ];
    for (mode, keys) in modes {
        if let Some(keys) = keys {
            text.push_str(&format!("\n{mode} mode\n"));
            text.push_str(&output::columns(&[
                ("Secret key", &keys.secret_key),
                ("Publishable key", &keys.publishable_key),
                ("Webhook secret", &keys.webhook_secret),
            ]));
        }
    }
    if let Some(NewLink { link, expires_at }) = link {
        let until = time::show(*expires_at);
        text.push_str(&format!("\nDashboard, until {until}\n  {link}\n"));
    }
    output::print(&text)
}

fn name(text: &str) -> Result<&str, Failure> {
    let name = organization_name(text).ok_or_else(|| {
        Failure::Usage(format!(
            "--name must have 1 to {DISPLAY_NAME_CHARS_MAX} characters on one line"
        ))
    })?;
    match names::check(name) {
        Ok(()) => Ok(name),
        Err(error) => Err(Failure::Usage(format!("--name {error}"))),
    }
}

/// An address serves test and live mode alike; a Bitcoin account key says itself which of them it is for.
fn by_mode(given: &[Destination], modes: Modes) -> Result<Vec<(Family, Mode, String)>, Failure> {
    let modes: &[Mode] = match modes {
        Modes::TestOnly => &[Mode::Test],
        Modes::TestAndLive => &[Mode::Test, Mode::Live],
    };
    let mut all: Vec<(Family, Mode, String)> = Vec::new();
    for Destination { family, address } in given {
        let namespace = family.namespace();
        let mut fits = 0;
        for mode in modes {
            let canonical = match parse_destination(*family, *mode, address) {
                Ok(canonical) => canonical,
                Err(AddressError::WrongNetwork) if *family == Family::Bitcoin => continue,
                Err(error) => {
                    return Err(Failure::new(format!(
                        "--destination {namespace} is refused: {error}"
                    )));
                }
            };
            let can_serve = destinations::check_spendable(*family, &canonical)
                .and_then(|()| destinations::check_example(*mode, *family, &canonical));
            if let Err(refusal) = can_serve {
                return Err(Failure::new(format!(
                    "--destination {namespace} is refused. {}",
                    refusal.message
                )));
            }
            fits += 1;
            let taken = |(f, m, _): &(Family, Mode, String)| f == family && m == mode;
            if all.iter().any(taken) {
                let line = format!(
                    "--destination {namespace} is given twice for {} mode",
                    mode.as_str()
                );
                return Err(Failure::new(line));
            }
            all.push((*family, *mode, canonical));
        }
        if fits == 0 {
            return Err(Failure::new(
                "--destination bip122 is refused: it is a key of the main network, which needs --live",
            ));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documented example.
    const EVM: &str = "eip155=0x52908400098527886E0F7030069857D2E4169EE7";
    const OWN: &str = "eip155=0x8617E340B3D01FA5F11F306F4090FD50E238070D";
    /// m/84'/0'/0' of the mnemonic in BIP84's test vectors.
    const ZPUB: &str = "bip122=zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

    fn given(texts: &[&str], modes: Modes) -> Result<Vec<(Family, Mode, String)>, Failure> {
        let parsed: Vec<Destination> = texts
            .iter()
            .map(|text| destination(text).unwrap())
            .collect();
        by_mode(&parsed, modes)
    }

    #[test]
    fn an_address_serves_both_modes_and_a_bitcoin_key_its_own() {
        let evm = EVM.split_once('=').unwrap().1.to_owned();
        assert_eq!(
            given(&[EVM], Modes::TestOnly).unwrap(),
            [(Family::Evm, Mode::Test, evm.clone())]
        );
        let both = given(&[OWN, ZPUB], Modes::TestAndLive).unwrap();
        let places: Vec<_> = both.iter().map(|(f, m, _)| (*f, *m)).collect();
        assert_eq!(
            places,
            [
                (Family::Evm, Mode::Test),
                (Family::Evm, Mode::Live),
                (Family::Bitcoin, Mode::Live)
            ]
        );
    }

    #[test]
    fn a_key_of_the_main_network_needs_live_mode() {
        let failure = given(&[ZPUB], Modes::TestOnly).unwrap_err();
        assert!(failure.to_string().contains("--live"), "{failure}");
    }

    #[test]
    fn a_live_destination_alone_leaves_test_mode_to_the_account_s_own_examples() {
        let all = given(&[ZPUB], Modes::TestAndLive).unwrap();
        assert!(all.iter().all(|(_, mode, _)| *mode == Mode::Live));
    }

    #[test]
    fn what_loses_money_is_refused_before_an_account_is_made() {
        let refused = |text: &str, modes: Modes, why: &str| {
            let failure = given(&[text], modes).unwrap_err().to_string();
            assert!(failure.contains(why), "{text}: {failure}");
        };
        refused(EVM, Modes::TestAndLive, "documented example");
        let tron = "tron=THVmXun9u721tBiYcT3VfLQKcwYBmoY1xX";
        refused(tron, Modes::TestAndLive, "documented example");
        for modes in [Modes::TestOnly, Modes::TestAndLive] {
            let burnt = "eip155=0x000000000000000000000000000000000000dEaD";
            refused(burnt, modes, "Nobody holds the key");
        }
        assert!(given(&[tron], Modes::TestOnly).is_ok());
    }

    #[test]
    fn a_destination_given_twice_or_wrong_is_refused_without_being_repeated() {
        assert!(given(&[EVM, EVM], Modes::TestOnly).is_err());
        let typo = EVM.replace("EE7", "EE8").replace("52908", "5290a");
        let failure = given(&[&typo], Modes::TestOnly).unwrap_err().to_string();
        assert!(
            failure.starts_with("--destination eip155 is refused: "),
            "{failure}"
        );
        assert!(!failure.contains("0x5290"), "{failure}");
    }

    #[test]
    fn a_name_is_one_line_of_text() {
        assert_eq!(name(" Acme "), Ok("Acme"));
        for bad in [
            "",
            "  ",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}b",
            "www.evil.com",
            "evil.com/pay",
            &"x".repeat(DISPLAY_NAME_CHARS_MAX + 1),
        ] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
    }
}
