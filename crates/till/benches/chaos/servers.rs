//! Three Till servers on the cluster: two reach it through PgBouncer and HAProxy, one knows the three PostgreSQL servers itself.

use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::cluster::Cluster;
use crate::Res;
use crate::load::Client;

/// The build that is tried, unless `CHAOS_TILL` names another.
const TILL: &str = env!("CARGO_BIN_EXE_till");
const START_TIME_MAX: Duration = Duration::from_secs(60);

pub struct Servers {
    folder: TempDir,
    all: Vec<Server>,
}

struct Server {
    database: String,
    address: SocketAddr,
    child: Option<Child>,
}

impl Servers {
    pub async fn start_all(cluster: &Cluster) -> Res<Servers> {
        let mut all = Vec::new();
        for database in [&cluster.pooled, &cluster.servers, &cluster.pooled] {
            all.push(Server {
                database: database.clone(),
                address: TcpListener::bind("127.0.0.1:0")?.local_addr()?,
                child: None,
            });
        }
        let mut servers = Servers {
            folder: tempfile::tempdir()?,
            all,
        };
        let first = servers.all[0].database.clone();
        let migrated = servers.command("migrate", &first).output()?;
        if !migrated.status.success() {
            return Err(String::from_utf8_lossy(&migrated.stderr).into());
        }
        for place in 0..servers.count() {
            servers.start(place).await?;
        }
        Ok(servers)
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.all.iter().map(|server| server.address).collect()
    }

    /// The secret key of a new account.
    pub fn account(&self) -> Res<String> {
        let mut command = self.command("account", &self.all[0].database);
        let made = command
            .args(["create", "--name", "Chaos", "--json"])
            .output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into());
        }
        let account: Value = serde_json::from_slice(&made.stdout)?;
        let key = account["test"]["secret_key"].as_str();
        Ok(key.ok_or("no secret key")?.to_owned())
    }

    fn command(&self, name: &str, database: &str) -> Command {
        let till = std::env::var_os("CHAOS_TILL");
        let mut command = Command::new(till.as_deref().unwrap_or(TILL.as_ref()));
        let key_file = self.folder.path().join("till.key");
        command
            .args([name, "--database", database, "--set"])
            .arg(format!("secrets.key_file={}", key_file.display()))
            .args(["--set", "webhooks.allow_private_addresses=true"])
            .env_remove("TILL_LOG")
            .stdin(Stdio::null());
        command
    }

    fn log_file(&self, place: usize) -> std::path::PathBuf {
        let folder = std::env::var_os("CHAOS_LOGS").map(Into::into);
        let folder = folder.unwrap_or_else(|| self.folder.path().to_owned());
        folder.join(format!("till-{place}.log"))
    }

    pub async fn start(&mut self, place: usize) -> Res<()> {
        let log = self.log_file(place);
        let file = OpenOptions::new().create(true).append(true).open(&log)?;
        let address = self.all[place].address;
        let mut command = self.command("serve", &self.all[place].database);
        command.arg("--listen").arg(address.to_string());
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::from(file))
            .spawn()?;
        self.all[place].child = Some(child);
        let begun = Instant::now();
        while !is_ready(address).await {
            if begun.elapsed() > START_TIME_MAX {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("till did not become ready: {log}").into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// As by a power cut.
    pub fn kill(&mut self, place: usize) -> Res<()> {
        if let Some(mut child) = self.all[place].child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    pub fn stop(&mut self) -> Res<()> {
        for place in 0..self.count() {
            self.kill(place)?;
        }
        Ok(())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop().ok();
    }
}

async fn is_ready(address: SocketAddr) -> bool {
    let asked = async {
        let mut client = Client::connect(address).await?;
        let request = b"GET /readyz HTTP/1.1\r\nhost: chaos\r\n\r\n";
        client.exchange(request).await.map(|(status, _)| status)
    };
    matches!(asked.await, Ok(200))
}
