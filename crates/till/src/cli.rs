//! The command line: what can be typed, and how a command's end becomes an exit status.

mod books;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use till_engine::invoices::Decision;
use tokio::runtime::{Builder, Runtime};

use crate::commands::{
    account, accounts, backup, check, checkout, config, demo, destination, key, key_file, live,
    migrate, network, recover, restore, screening, serve, sweep,
};
use crate::compose;
use crate::config::{Config, Flags};
use crate::failure::{Failure, remedy};
use crate::logging::{self, FormatArg};
use crate::output;
use crate::progress;
use crate::server::Part;

/// A task that will not end must not keep the process.
const RUNTIME_END_TIME: Duration = Duration::from_secs(1);

/// Takes crypto payments straight into the merchant's own wallet
#[derive(Debug, Parser)]
#[command(
    name = "till",
    version,
    disable_help_subcommand = true,
    // So many commands fit a screen only without air between them, and without a heading of their own.
    help_template = "{about-with-newline}{usage-heading} {usage}   Example: till demo\n{subcommands}\nOptions (and more commands: completions, digest, journal, man, openapi):\n{options}"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: Settings,
}

/// The same on every command.
#[derive(Debug, Args)]
struct Settings {
    /// Configuration file (TOML)
    #[arg(long, global = true, value_name = "FILE", display_order = 100)]
    config: Option<PathBuf>,
    /// sqlite:PATH or postgres://…
    #[arg(long, global = true, value_name = "URL", display_order = 101)]
    database: Option<String>,
    /// Any setting, as section.key=value
    #[arg(long, global = true, value_name = "SETTING", display_order = 102)]
    set: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a demo server in memory, with keys and a link to try
    #[command(after_help = "Example: till demo --listen 127.0.0.1:0 --json")]
    Demo {
        /// Address and port; port 0 picks a free one
        #[arg(long, value_name = "ADDR")]
        listen: Option<String>,
        /// Print one JSON object instead of text
        #[arg(long)]
        json: bool,
    },
    /// Run the server
    #[command(
        after_help = "Several machines on one PostgreSQL may share the work with --only.\n\n\
                      Example: till serve --config till.toml --listen 0.0.0.0:8080"
    )]
    Serve {
        /// Address and port; port 0 picks a free one
        #[arg(long, value_name = "ADDR")]
        listen: Option<String>,
        /// Run only api or only workers
        #[arg(
            long,
            value_enum,
            value_delimiter = ',',
            value_name = "PARTS",
            hide_possible_values = true
        )]
        only: Vec<Part>,
        /// Log lines as text or json (text on a terminal)
        #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
        log_format: Option<FormatArg>,
    },
    /// Bring the database to this version's schema
    #[command(after_help = "Example: till migrate --database postgres://till@localhost/till")]
    Migrate,
    /// Make, list, disable and enable accounts
    #[command(subcommand, after_help = "Example: till account create --name Acme")]
    Account(AccountCommand),
    /// Make, replace and list API keys
    #[command(subcommand, after_help = "Example: till key list --account acct_…")]
    Key(KeyCommand),
    /// Make key files, and encrypt everything anew with the first
    #[command(
        subcommand,
        name = "key-file",
        after_help = "Example: till key-file rotate"
    )]
    KeyFile(KeyFileCommand),
    /// Decide about payments that are held
    #[command(
        subcommand,
        after_help = "Example: till review accept inv_… --reason \"Known customer\""
    )]
    Review(ReviewCommand),
    /// The checkout pages, for a host of your own
    #[command(
        subcommand,
        after_help = "Example: till checkout export --account acct_… --mode live --to pay"
    )]
    Checkout(CheckoutCommand),
    /// Say how old and large the screening lists are
    #[command(subcommand, after_help = "Example: till screening status")]
    Screening(ScreeningCommand),
    /// Show the watched networks, and end a freeze
    #[command(subcommand, after_help = "Example: till network list")]
    Network(NetworkCommand),
    /// Print unsigned transactions that empty an account's addresses
    #[command(
        after_help = "Any wallet may send them: what lies there can only go to the destination.\n\n\
                      Example: till sweep --account acct_… --mode live --min 10"
    )]
    Sweep(sweep::Sweep),
    /// Find an account's addresses again, without a database
    #[command(
        after_help = "Example: till recover --account acct_… --mode live \\\n           \
                      --destination eip155=0x52908400098527886E0F7030069857D2E4169EE7"
    )]
    Recover(recover::Recover),
    /// Copy a SQLite database while it is in use
    #[command(after_help = "Example: till backup --to copies --keep 14")]
    Backup(backup::Backup),
    /// Put a copy back, and say what the chains will be asked again
    #[command(after_help = "Example: till restore --from till-backup.db")]
    Restore(restore::Restore),
    /// List signed digests of the journal, and hold the journal against them
    #[command(
        subcommand,
        hide = true,
        after_help = "Example: till digest verify --account acct_… --mode live"
    )]
    Digest(books::DigestCommand),
    /// Print the journal of some days
    #[command(
        subcommand,
        hide = true,
        after_help = "Example: till journal export --account acct_… --mode live \\\n           \
                      --from 2026-01-01 --to 2026-12-31"
    )]
    Journal(books::JournalCommand),
    /// Print the OpenAPI 3.1 document
    #[command(hide = true, after_help = "Example: till openapi > openapi.json")]
    Openapi,
    /// Print what a shell needs to complete commands and options
    #[command(
        hide = true,
        after_help = "Example: till completions bash > /etc/bash_completion.d/till"
    )]
    Completions { shell: Shell },
    /// Print the manual page, or write one for every command
    #[command(
        hide = true,
        after_help = "Example: till man --to /usr/local/share/man/man1"
    )]
    Man {
        /// The folder for a page of every command
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
    },
    /// Show every setting, what it is set to, and by whom
    #[command(after_help = "Example: till config --example > till.toml")]
    Config(config::Show),
    /// Say what is wrong with the configuration and what it depends on
    #[command(after_help = "Example: till check --config till.toml")]
    Check,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum AccountCommand {
    /// Make an account and print its keys, once
    #[command(
        after_help = "FAMILY is eip155, tron, solana (an address) or bip122 (an account xpub).\n\
                      Without a destination, test mode gets documented examples.\n\n\
                      Example: till account create --name Acme --live \\\n           \
                      --destination eip155=0x52908400098527886E0F7030069857D2E4169EE7"
    )]
    Create(account::Create),
    /// List all accounts
    #[command(after_help = "Example: till account list --json")]
    List(accounts::List),
    /// Refuse an account's keys; observing and crediting go on
    #[command(after_help = "Example: till account disable --account acct_…")]
    Disable(accounts::Which),
    /// Let a disabled account's keys work again
    #[command(after_help = "Example: till account enable --account acct_…")]
    Enable(accounts::Which),
    /// Show where an account is paid, in both modes
    #[command(after_help = "Example: till account destinations --account acct_…")]
    Destinations(destination::List),
    /// Add a destination of a family that has none yet
    #[command(
        override_usage = "till account add-destination [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE> --destination <FAMILY=ADDRESS>",
        after_help = "FAMILY is eip155, tron, solana (an address) or bip122 (an account xpub).\n\n\
                      Example: till account add-destination --account acct_… --mode live \\\n           \
                      --destination eip155=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    )]
    AddDestination(destination::Add),
    /// Say where webhooks go, in live mode, too
    #[command(
        override_usage = "till account set-webhook [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE> --url <URL>",
        after_help = "Example: till account set-webhook --account acct_… --mode live \\\n           \
                      --url https://shop.example/till"
    )]
    SetWebhook(live::SetWebhook),
    /// Make a new webhook secret and print it, once
    #[command(
        override_usage = "till account roll-webhook-secret [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE>",
        after_help = "Example: till account roll-webhook-secret --account acct_… --mode live"
    )]
    RollWebhookSecret(live::RollWebhookSecret),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum ReviewCommand {
    /// Credit what is held
    #[command(after_help = "Example: till review accept inv_… --reason \"Known customer\"")]
    Accept(live::Resolve),
    /// Do not credit it; it can be refunded
    #[command(after_help = "Example: till review reject inv_… --reason \"Sanctioned sender\"")]
    Reject(live::Resolve),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum CheckoutCommand {
    /// Write the pages and a config.json that pins the account's destinations
    #[command(after_help = "Example: till checkout export --account acct_… --mode live --to pay")]
    Export(checkout::Export),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum KeyCommand {
    /// Make another key beside those there are
    #[command(after_help = "Example: till key create --account acct_… --mode test --kind secret")]
    Create(key::New),
    /// Make a new key; all others of its mode and kind stop working at once
    #[command(after_help = "Example: till key roll --account acct_… --mode live --kind secret")]
    Roll(key::New),
    /// List an account's keys by their hints
    #[command(after_help = "Example: till key list --account acct_…")]
    List(key::List),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum KeyFileCommand {
    /// Make a key file that is to take over from those there are
    #[command(after_help = "Example: till key-file create --to new.key")]
    Create(key_file::Create),
    /// Encrypt everything with the first file of secrets.key_file
    #[command(
        after_help = "Servers go on serving meanwhile; all of them must have the first file already,\n\
                      and those before it. It may be run again at any time.\n\n\
                      Example: till key-file rotate"
    )]
    Rotate,
    /// Show the key files, and the public keys that sign digests
    #[command(after_help = "Example: till key-file show --json")]
    Show(key_file::Show),
    /// Make a new key that signs digests; earlier public keys stay
    #[command(
        name = "renew-ledger-key",
        after_help = "For a key that may have been seen by others, or that no key file opens.\n\n\
                      Example: till key-file renew-ledger-key"
    )]
    RenewLedgerKey,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum ScreeningCommand {
    /// Show each list's edition, size and age
    #[command(after_help = "Example: till screening status --json")]
    Status(screening::Status),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
enum NetworkCommand {
    /// Show how far each network was read and is final
    #[command(after_help = "Example: till network list --json")]
    List(network::List),
    /// End a freeze: the chain as it is now is believed
    #[command(
        after_help = "Look first at what was replaced: payments in replaced blocks are reversed\n\
                      unless they are found again.\n\n\
                      Example: till network thaw --network eip155:8453"
    )]
    Thaw(network::Thaw),
}

pub fn main() -> ExitCode {
    // Writes help to standard output and usage errors to standard error, and exits 0 or 2.
    let cli = Cli::try_parse().unwrap_or_else(|error| without_addresses(error).exit());
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("till: {failure}");
            ExitCode::from(failure.status())
        }
    }
}

/// Usage errors repeat what was typed, but no address: it may hold a key.
fn without_addresses(mut error: clap::Error) -> clap::Error {
    let typed = [
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidValue,
    ];
    for kind in typed {
        if let Some(ContextValue::String(text)) = error.get(kind)
            && text.contains("://")
        {
            error.insert(kind, ContextValue::String("…".to_owned()));
        }
    }
    error
}

fn run(cli: Cli) -> Result<(), Failure> {
    let filter = env::var("TILL_LOG").ok();
    let filter = filter.as_deref();
    match cli.command {
        Command::Demo { listen, json } => {
            let config = load(&cli.settings, listen)?;
            let format = logging::format(None, config.log.format);
            let log = logging::start_server(filter, config.log.level, format)?;
            block_on(server_runtime()?, demo::run(config, json, log))
        }
        Command::Serve {
            listen,
            only,
            log_format,
        } => {
            let config = load(&cli.settings, listen.clone())?;
            let format = logging::format(log_format, config.log.format);
            let log = logging::start_server(filter, config.log.level, format)?;
            let settings = cli.settings;
            let again = move || load(&settings, listen.clone());
            block_on(
                server_runtime()?,
                serve::run(&config, &only, log, Box::new(again)),
            )
        }
        Command::Openapi => output::print(till_api::openapi_json()),
        Command::Completions { shell } => completions(shell),
        Command::Man { to } => manual(to.as_deref()),
        Command::Migrate => one_thing(&cli.settings, filter, async |config| {
            progress::during("bringing the schema up to date", migrate::run(&config)).await
        }),
        Command::Account(AccountCommand::Create(create)) => {
            one_thing(&cli.settings, filter, async |config| {
                account::create(&config, &create).await
            })
        }
        Command::Account(AccountCommand::List(list)) => {
            one_thing(&cli.settings, filter, async |config| {
                accounts::list(&config, &list).await
            })
        }
        Command::Account(AccountCommand::Disable(which)) => {
            one_thing(&cli.settings, filter, async |config| {
                accounts::disable(&config, &which).await
            })
        }
        Command::Account(AccountCommand::Enable(which)) => {
            one_thing(&cli.settings, filter, async |config| {
                accounts::enable(&config, &which).await
            })
        }
        Command::Backup(copy) => one_thing(&cli.settings, filter, async |config| {
            backup::backup(&config, &copy).await
        }),
        Command::Restore(copy) => one_thing(&cli.settings, filter, async |config| {
            restore::restore(&config, &copy).await
        }),
        Command::Key(KeyCommand::Create(new)) => one_thing(&cli.settings, filter, async |config| {
            key::create(&config, &new).await
        }),
        Command::Key(KeyCommand::Roll(new)) => one_thing(&cli.settings, filter, async |config| {
            key::roll(&config, &new).await
        }),
        Command::Key(KeyCommand::List(list)) => one_thing(&cli.settings, filter, async |config| {
            key::list(&config, &list).await
        }),
        Command::Account(AccountCommand::AddDestination(add)) => {
            one_thing(&cli.settings, filter, async |config| {
                destination::add(&config, &add).await
            })
        }
        Command::Account(AccountCommand::Destinations(list)) => {
            one_thing(&cli.settings, filter, async |config| {
                destination::list(&config, &list).await
            })
        }
        Command::Account(AccountCommand::SetWebhook(set)) => {
            one_thing(&cli.settings, filter, async |config| {
                live::set_webhook(&config, &set).await
            })
        }
        Command::Account(AccountCommand::RollWebhookSecret(roll)) => {
            one_thing(&cli.settings, filter, async |config| {
                live::roll_webhook_secret(&config, &roll).await
            })
        }
        Command::Review(command) => {
            let (asked, decision) = match command {
                ReviewCommand::Accept(asked) => (asked, Decision::Accept),
                ReviewCommand::Reject(asked) => (asked, Decision::Reject),
            };
            one_thing(&cli.settings, filter, async |config| {
                live::resolve(&config, &asked, decision).await
            })
        }
        Command::KeyFile(KeyFileCommand::Create(create)) => key_file::create(&create),
        Command::KeyFile(KeyFileCommand::Rotate) => {
            one_thing(&cli.settings, filter, async |config| {
                key_file::rotate(&config).await
            })
        }
        Command::KeyFile(KeyFileCommand::Show(show)) => {
            one_thing(&cli.settings, filter, async |config| {
                key_file::show(&config, &show).await
            })
        }
        Command::KeyFile(KeyFileCommand::RenewLedgerKey) => {
            one_thing(&cli.settings, filter, async |config| {
                key_file::renew_ledger_key(&config).await
            })
        }
        Command::Digest(command) => books::digest(&cli.settings, filter, command),
        Command::Journal(command) => books::journal(&cli.settings, filter, command),
        Command::Checkout(CheckoutCommand::Export(export)) => {
            one_thing(&cli.settings, filter, async |config| {
                checkout::export(&config, &export).await
            })
        }
        Command::Screening(ScreeningCommand::Status(status)) => {
            one_thing(&cli.settings, filter, async |config| {
                screening::status(&config, &status).await
            })
        }
        Command::Network(NetworkCommand::List(list)) => {
            one_thing(&cli.settings, filter, async |config| {
                network::list(&config, &list).await
            })
        }
        Command::Network(NetworkCommand::Thaw(thaw)) => {
            one_thing(&cli.settings, filter, async |config| {
                network::thaw(&config, &thaw).await
            })
        }
        Command::Sweep(sweep) => one_thing(&cli.settings, filter, async |config| {
            progress::during("asking the chains", sweep::run(&config, &sweep)).await
        }),
        Command::Recover(recover) => one_thing(&cli.settings, filter, async |config| {
            progress::during("looking for addresses", recover::run(&config, &recover)).await
        }),
        Command::Config(show) => {
            let file = show.check.as_ref().or(cli.settings.config.as_ref());
            config::show(&show, || given(file, &cli.settings, None))
        }
        Command::Check => one_thing(&cli.settings, filter, async |config| {
            check::run(&config).await
        }),
    }
}

fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "till", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

fn manual(to: Option<&Path>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("the manual: {error}"));
    if let Some(folder) = to {
        return clap_mangen::generate_to(Cli::command(), folder).map_err(failed);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut text)
        .map_err(failed)?;
    output::print(&String::from_utf8_lossy(&text))
}

fn one_thing(
    settings: &Settings,
    filter: Option<&str>,
    command: impl AsyncFnOnce(Config) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let config = load(settings, None)?;
    logging::start_command(filter)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    block_on(runtime.map_err(no_runtime)?, command(config))
}

fn server_runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(no_runtime)
}

fn no_runtime(error: std::io::Error) -> Failure {
    Failure::new(format!("the program cannot start: {error}"))
}

fn block_on(
    runtime: Runtime,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(RUNTIME_END_TIME);
    done
}

fn load(settings: &Settings, listen: Option<String>) -> Result<Config, Failure> {
    let given = given(settings.config.as_ref(), settings, listen)?;
    let config = Config::load(
        given.file_text.as_deref(),
        given.variables.into_iter(),
        &given.flags,
    )?;
    compose::check_settings(&config)?;
    Ok(config)
}

/// What the file, the environment and the command line say.
fn given(
    file: Option<&PathBuf>,
    settings: &Settings,
    listen: Option<String>,
) -> Result<config::Given, Failure> {
    let text = match file {
        None => None,
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
            Failure::new(format!(
                "the configuration file {} cannot be read: {error}{}",
                path.display(),
                remedy(&error)
            ))
        })?),
    };
    let flags = Flags {
        listen,
        database: settings.database.clone(),
        set: settings.set.clone(),
    };
    Ok(config::Given {
        file_text: text,
        variables: variables(env::vars_os())?,
        flags,
    })
}

/// Variables of others may be anything; ours are text.
fn variables(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<(String, String)>, Failure> {
    let ours = all.filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        name.starts_with("TILL_").then_some((name, value))
    });
    ours.map(|(name, value)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(Failure::new(format!("environment, {name} is not UTF-8"))),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of all commands, the groups among them.
    fn paths(command: &clap::Command, path: &[String]) -> Vec<Vec<String>> {
        let mut path = path.to_vec();
        path.push(command.get_name().to_owned());
        let below = command.get_subcommands();
        let mut all: Vec<_> = below.flat_map(|below| paths(below, &path)).collect();
        all.push(path);
        all
    }

    #[test]
    fn every_help_fits_one_screen_and_shows_an_example() {
        let paths = paths(&Cli::command(), &[]);
        assert_eq!(paths.len(), 46, "{paths:?}");
        for mut path in paths {
            path.push("--help".to_owned());
            let help = Cli::try_parse_from(&path).unwrap_err().to_string();
            let lines = help.lines().count();
            assert!(lines <= 24, "{path:?}: {lines} lines\n{help}");
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{path:?}: {line}");
            }
            assert!(help.contains("Example: till "), "{path:?}");
        }
    }

    #[test]
    fn usage_errors_repeat_no_address() {
        for line in [
            "till https://node.example/secret",
            "till migrate https://node.example/secret",
            "till recover --account a --mode test --rpc eip155:1 https://node.example/secret",
            "till recover --account a --mode https://node.example/secret",
            "till recover --account a --mode test --count https://node.example/secret",
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            let shown = without_addresses(error).to_string();
            assert!(!shown.contains("secret"), "{line}: {shown}");
            assert!(shown.starts_with("error: "), "{line}: {shown}");
        }
    }

    #[test]
    fn settings_may_be_given_before_and_after_the_command() {
        for line in [
            "till --database sqlite:a.db migrate",
            "till migrate --database sqlite:a.db",
            "till key list --account a --database sqlite:a.db",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(cli.settings.database.as_deref(), Some("sqlite:a.db"));
        }
    }

    #[test]
    fn only_takes_a_list_of_parts() {
        let cli = Cli::try_parse_from(["till", "serve", "--only", "api,workers"]).unwrap();
        let Command::Serve { only, .. } = cli.command else {
            panic!("serve");
        };
        assert_eq!(only, [Part::Api, Part::Workers]);
        assert!(Cli::try_parse_from(["till", "serve", "--only", "mail"]).is_err());
    }
}
