//! The cluster that `scripts/with-cluster` started, and its buttons.

use std::path::PathBuf;
use std::process::Command;

use crate::Res;

pub struct Cluster {
    /// Through PgBouncer and HAProxy.
    pub pooled: String,
    /// The three servers themselves.
    pub servers: String,
    /// Each PostgreSQL has a network and a disk of its own, which only root can give it.
    pub is_apart: bool,
    script: PathBuf,
}

impl Cluster {
    pub fn from_env() -> Res<Cluster> {
        let named = |name: &str| {
            std::env::var(name).map_err(|_| format!("{name} is not set: run `make chaos`"))
        };
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        Ok(Cluster {
            pooled: named("TILL_TEST_CLUSTER")?,
            servers: named("TILL_TEST_CLUSTER_SERVERS")?,
            is_apart: named("TILL_TEST_CLUSTER_APART")? == "1",
            script: root.join("../../scripts/with-cluster"),
        })
    }

    fn run(&self, arguments: &[&str]) -> Res<String> {
        let mut command = Command::new(&self.script);
        let done = command.arg("--do").args(arguments).output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into());
        }
        Ok(String::from_utf8(done.stdout)?.trim().to_owned())
    }

    pub fn primary(&self) -> Res<String> {
        match self.run(&["primary"])? {
            none if none.is_empty() => Err("the cluster has no primary".into()),
            node => Ok(node),
        }
    }

    pub fn act(&self, action: &str, node: &str) -> Res<()> {
        match node.is_empty() {
            true => self.run(&[action]),
            false => self.run(&[action, node]),
        }
        .map(drop)
    }

    /// Until nobody is missing.
    pub fn wait(&self) -> Res<()> {
        self.run(&["wait"]).map(drop)
    }
}
