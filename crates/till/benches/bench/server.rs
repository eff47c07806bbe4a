//! The binary under measurement: an installation of its own in a folder that is thrown away.

use std::ffi::OsString;
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::Res;
use super::load::Client;
use super::requests;

/// The build that is measured, unless `BENCH_TILL` names another.
const TILL: &str = env!("CARGO_BIN_EXE_till");
const START_TIME_MAX: Duration = Duration::from_secs(20);
const STOP_TIME_MAX: Duration = Duration::from_secs(20);

/// Which build runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    This,
    /// The one that this is compared with, named by `BENCH_BASE`.
    Base,
}

impl Program {
    fn path(self) -> Res<OsString> {
        match self {
            Program::This => Ok(std::env::var_os("BENCH_TILL").unwrap_or_else(|| TILL.into())),
            Program::Base => Ok(std::env::var_os("BENCH_BASE").ok_or("BENCH_BASE is not set")?),
        }
    }
}

/// A database with one account, and the key to it.
pub struct Installation {
    program: OsString,
    folder: TempDir,
    pub database: String,
    pub key: String,
    pub publishable_key: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    All,
    /// Deliveries are written and wait: nothing is sent.
    Api,
}

impl Installation {
    /// On SQLite in a file when no database is named.
    pub fn new(database: Option<String>) -> Res<Installation> {
        Installation::of(Program::This, database)
    }

    pub fn of(program: Program, database: Option<String>) -> Res<Installation> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("till.db");
        let database = database.unwrap_or_else(|| format!("sqlite:{}", file.display()));
        let mut installation = Installation {
            program: program.path()?,
            folder,
            database,
            key: String::new(),
            publishable_key: String::new(),
        };
        let account = installation.create_account("Bench")?;
        let text = |name: &str| account["test"][name].as_str().map(str::to_owned);
        installation.key = text("secret_key").ok_or("no secret key")?;
        installation.publishable_key = text("publishable_key").ok_or("no publishable key")?;
        Ok(installation)
    }

    /// The secret key of one more account.
    pub fn another_account(&self) -> Res<String> {
        let account = self.create_account("Other")?;
        let key = account["test"]["secret_key"].as_str();
        Ok(key.ok_or("no secret key")?.to_owned())
    }

    fn create_account(&self, name: &str) -> Res<Value> {
        let mut command = self.command("account");
        let output = command
            .args(["create", "--name", name, "--json"])
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    pub fn sqlite_file(&self) -> Option<&Path> {
        self.database.strip_prefix("sqlite:").map(Path::new)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        let key_file = self.folder.path().join("till.key");
        command
            .arg(name)
            .arg("--database")
            .arg(&self.database)
            .arg("--set")
            .arg(format!("secrets.key_file={}", key_file.display()))
            .args(["--set", "webhooks.allow_private_addresses=true"])
            .args(["--set", "limits.trusted_proxies=127.0.0.1/32"])
            .args(["--set", "limits.checkout_per_minute=1000000"])
            .env_remove("TILL_LOG")
            .stdin(Stdio::null());
        command
    }

    pub async fn serve(&self, parts: Parts) -> Res<Server> {
        let address = free_address()?;
        let log = self.folder.path().join("log");
        let mut command = self.command("serve");
        command.arg("--listen").arg(address.to_string());
        if parts == Parts::Api {
            command.args(["--only", "api"]);
        }
        let started = Instant::now();
        let child = command
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        let mut server = Server {
            child,
            address,
            start_time: Duration::ZERO,
        };
        while !is_healthy(address).await {
            if started.elapsed() > START_TIME_MAX || server.child.try_wait()?.is_some() {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("till did not start: {log}").into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.start_time = started.elapsed();
        Ok(server)
    }

    pub async fn set_webhook_url(&self, server: &Server, url: &str) -> Res<()> {
        let mut client = Client::connect(server.address).await?;
        let (status, body) = client
            .exchange(&requests::set_webhook_url(&self.key, url))
            .await?;
        if status != 200 {
            return Err(format!("webhook_url: {}", String::from_utf8_lossy(body)).into());
        }
        Ok(())
    }
}

async fn is_healthy(address: SocketAddr) -> bool {
    let asked = async {
        let mut client = Client::connect(address).await?;
        let request = b"GET /healthz HTTP/1.1\r\nhost: bench\r\n\r\n";
        client.exchange(request).await.map(|(status, _)| status)
    };
    matches!(asked.await, Ok(200))
}

/// Chosen here and not by the server, so that its start can be timed from outside.
pub fn free_address() -> Res<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// From its first instruction to its first answer.
    pub start_time: Duration,
}

impl Server {
    pub fn memory_kib(&self) -> Res<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
    }

    /// An orderly end, so that the next start finds the database as operators leave it.
    pub async fn stop(mut self) -> Res<()> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > STOP_TIME_MAX {
                return Err("till did not stop".into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A benchmark that broke off must not leave servers behind; one that ended is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
