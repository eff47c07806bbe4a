//! The command line: what can be typed, and how a command's end becomes an exit status. Each group of commands has a
//! file of its own here, with its arguments.

mod account;
mod books;
mod checkout;
mod developer;
mod invocation;
mod key;
mod key_file;
mod network;
mod people;
mod review;
mod screening;
mod server;
mod settings;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use self::account::AccountCommand;
use self::checkout::CheckoutCommand;
use self::developer::{EventsCommand, LogsCommand};
use self::invocation::Invocation;
use self::key::KeyCommand;
use self::key_file::KeyFileCommand;
use self::network::NetworkCommand;
use self::people::{LiveCommand, OperatorCommand, UserCommand};
use self::review::ReviewCommand;
use self::screening::ScreeningCommand;
use self::settings::{Settings, given};
use crate::commands::{
    backup, check, config, listen, mcp, migrate, recover, restore, sweep, trigger, verify_signature,
};
use crate::failure::Failure;
use crate::output;
use crate::progress;

/// Takes crypto payments straight into the merchant's own wallet
#[derive(Debug, Parser)]
#[command(
    name = "till",
    version,
    disable_help_subcommand = true,
    // So many commands fit a screen only without air between them, and without a heading of their own.
    help_template = "{about-with-newline}{usage-heading} {usage}   Example: till demo\n{subcommands}\nMore: completions, digest, events, journal, listen, live, logs, man, mcp,\n      openapi, operator, screening, trigger, user, verify-signature\n{options}"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a demo server in memory, with keys and a link to try
    #[command(after_help = "Example: till demo --listen 127.0.0.1:0 --json")]
    Demo(server::Demo),
    /// Run the server
    #[command(
        after_help = "Several machines on one PostgreSQL may share the work with --only.\n\n\
                      Example: till serve --config till.toml --listen 0.0.0.0:8080"
    )]
    Serve(server::Serve),
    /// Bring the database to this version's schema
    #[command(after_help = "Example: till migrate --database postgres://till@localhost/till")]
    Migrate,
    /// Make, list, disable and enable accounts
    #[command(subcommand, after_help = "Example: till account create --name Acme")]
    Account(AccountCommand),
    /// Say who may take real payments
    #[command(
        subcommand,
        hide = true,
        after_help = "Example: till live enable --account acct_…"
    )]
    Live(LiveCommand),
    /// Make and remove operators
    #[command(
        subcommand,
        hide = true,
        after_help = "Example: till operator create --email ada@example.com"
    )]
    Operator(OperatorCommand),
    /// Let users in who are locked out
    #[command(
        subcommand,
        hide = true,
        after_help = "Example: till user link --email ada@example.com"
    )]
    User(UserCommand),
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
    #[command(subcommand, hide = true, after_help = "Example: till screening status")]
    Screening(ScreeningCommand),
    /// Show the watched networks, and end a freeze
    #[command(subcommand, after_help = "Example: till network list")]
    Network(NetworkCommand),
    /// Print unsigned transactions that empty an account's addresses
    #[command(
        after_help = "Any wallet may send them: what lies there can only go to the destination.\n\
                      On Bitcoin the wallet of the account key signs them.\n\n\
                      Example: till sweep --account acct_… --mode live --min 10"
    )]
    Sweep(sweep::Sweep),
    /// Find an account's addresses again, without a database
    #[command(
        after_help = "Example: till recover --account acct_… --mode live \\\n           \
                      --destination eip155=0xYourWallet"
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
    /// Read the log of events, and deliver one once more
    #[command(
        subcommand,
        hide = true,
        after_help = "Example: till events list --type invoice.paid"
    )]
    Events(EventsCommand),
    /// Send an account's test events to a server of yours as they happen
    #[command(
        hide = true,
        after_help = "Example: till listen --forward-to http://127.0.0.1:3000/webhooks"
    )]
    Listen(listen::Listen),
    /// Follow what an account's log at the server says
    #[command(subcommand, hide = true, after_help = "Example: till logs tail")]
    Logs(LogsCommand),
    /// Offer the API as tools to a language model (MCP)
    #[command(
        hide = true,
        after_help = "It speaks on standard input and output, and is started by the program that\nuses it. With a live key it only reads.\n\n\
                      Example: till mcp --server https://pay.example (its key in TILL_SECRET_KEY)"
    )]
    Mcp(mcp::Mcp),
    /// Make an event of test mode happen, by the calls that cause it
    #[command(hide = true, after_help = "Example: till trigger invoice.paid")]
    Trigger(trigger::Trigger),
    /// Say whether a webhook's signature is right, and if not, why
    #[command(
        hide = true,
        after_help = "Example: till verify-signature --signature t=…,v1=… --body body.json"
    )]
    VerifySignature(verify_signature::VerifySignature),
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
    let invocation = Invocation {
        settings: cli.settings,
        log_filter: env::var("TILL_LOG").ok(),
    };
    match cli.command {
        Command::Demo(demo) => demo.run(&invocation),
        Command::Serve(serve) => serve.run(&invocation),
        Command::Account(command) => command.run(&invocation),
        Command::Live(command) => command.run(&invocation),
        Command::Operator(command) => command.run(&invocation),
        Command::User(command) => command.run(&invocation),
        Command::Key(command) => command.run(&invocation),
        Command::KeyFile(command) => command.run(&invocation),
        Command::Review(command) => command.run(&invocation),
        Command::Checkout(command) => command.run(&invocation),
        Command::Screening(command) => command.run(&invocation),
        Command::Network(command) => command.run(&invocation),
        Command::Digest(command) => command.run(&invocation),
        Command::Journal(command) => command.run(&invocation),
        Command::Migrate => invocation.run_once(async |config| {
            progress::during("bringing the schema up to date", migrate::run(&config)).await
        }),
        Command::Sweep(sweep) => invocation.run_once(async |config| {
            progress::during("asking the chains", sweep::run(&config, &sweep)).await
        }),
        Command::Recover(recover) => invocation.run_once(async |config| {
            progress::during("looking for addresses", recover::run(&config, &recover)).await
        }),
        Command::Backup(copy) => {
            invocation.run_once(async |config| backup::backup(&config, &copy).await)
        }
        Command::Restore(copy) => {
            invocation.run_once(async |config| restore::restore(&config, &copy).await)
        }
        Command::Config(show) => {
            let settings = &invocation.settings;
            let file = show.check.as_ref().or(settings.config.as_ref());
            config::show(&show, || given(file, settings, None))
        }
        Command::Check => invocation.run_once(async |config| check::run(&config).await),
        Command::Events(command) => command.run(&invocation),
        Command::Listen(asked) => developer::listen(&asked, &invocation),
        Command::Logs(command) => command.run(&invocation),
        Command::Mcp(asked) => developer::mcp(&asked, &invocation),
        Command::Trigger(asked) => developer::trigger(&asked, &invocation),
        Command::VerifySignature(asked) => verify_signature::run(&asked),
        Command::Openapi => output::print(till_api::openapi_json()),
        Command::Completions { shell } => completions(shell),
        Command::Man { to } => manual(to.as_deref()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Part;

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
        assert_eq!(paths.len(), 66, "{paths:?}");
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
        let Command::Serve(serve) = cli.command else {
            panic!("serve");
        };
        assert_eq!(serve.only, [Part::Api, Part::Workers]);
        assert!(Cli::try_parse_from(["till", "serve", "--only", "mail"]).is_err());
    }
}
