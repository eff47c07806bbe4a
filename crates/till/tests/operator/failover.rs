//! Several database servers of which one takes writes, and the way to them by TLS.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;

use crate::common::{Place, comes_true_within, text, until};

/// A PostgreSQL server of a test's own. Stopped when dropped.
pub(super) struct Cluster {
    bin: PathBuf,
    folder: PathBuf,
    pub(super) port: u16,
}

impl Cluster {
    /// A new one, not started. Nothing without PostgreSQL's programs, as without a server to test on.
    pub(super) fn new(folder: &Path) -> Option<Cluster> {
        let Some(bin) = std::env::var_os("TILL_TEST_POSTGRES_BIN") else {
            let required = std::env::var("TILL_REQUIRE_POSTGRES").is_ok_and(|it| it == "1");
            assert!(!required, "TILL_TEST_POSTGRES_BIN is not set");
            eprintln!("skipped: TILL_TEST_POSTGRES_BIN is not set (see scripts/with-postgres)");
            return None;
        };
        let cluster = Cluster::at(bin.into(), folder.join("primary"));
        let arguments = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"];
        cluster.run(
            "initdb",
            &[&["-D", cluster.data()], &arguments[..]].concat(),
        );
        Some(cluster)
    }

    fn at(bin: PathBuf, folder: PathBuf) -> Cluster {
        Cluster {
            bin,
            folder,
            port: port_to_come_back_to(),
        }
    }

    /// A standby that follows this one, not started.
    pub(super) fn standby(&self) -> Cluster {
        let standby = Cluster::at(self.bin.clone(), self.folder.with_file_name("standby"));
        let port = self.port.to_string();
        let from = ["-R", "-h", "127.0.0.1", "-U", "postgres", "-p", &port];
        standby.run(
            "pg_basebackup",
            &[&["-D", standby.data()], &from[..]].concat(),
        );
        standby
    }

    pub(super) fn data(&self) -> &str {
        self.folder.to_str().unwrap()
    }

    pub(super) fn start(&self, settings: &str) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' {settings}",
            self.port
        );
        let log = format!("{}.log", self.data());
        let arguments = ["-D", self.data(), "-l", &log, "-w", "-o", &options, "start"];
        self.run("pg_ctl", &arguments);
    }

    pub(super) fn control(&self, arguments: &[&str]) {
        self.run("pg_ctl", &[&["-D", self.data(), "-w"], arguments].concat());
    }

    pub(super) fn ask(&self, sql: &str) {
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-U", "postgres", "-p", &port, "-c", sql];
        self.run("psql", &to);
    }

    /// The first value of a query's answer.
    pub(super) fn tells(&self, sql: &str) -> String {
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-U", "postgres", "-p", &port];
        self.run("psql", &[&to[..], &["-Atc", sql]].concat())
    }

    /// Sends a signal to every process of the server.
    pub(super) fn signal(&self, name: &str) {
        let script = format!(
            "first=$(head -n 1 '{}/postmaster.pid'); kill -s {name} $first $(pgrep -P $first)",
            self.data()
        );
        let sent = Command::new("sh").args(["-c", &script]).status();
        assert!(sent.unwrap().success());
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let done = self.command(program, arguments).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{program}: {said}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// PostgreSQL refuses to run as root.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let folder = self.folder.parent().unwrap();
        let mut command = match fs::metadata("/proc/self").unwrap().uid() {
            0 => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]);
                command.arg(self.bin.join(program));
                command
            }
            _ => Command::new(self.bin.join(program)),
        };
        command.args(arguments).current_dir(folder);
        command
    }
}

/// A port below those that the system gives to whoever asks for any: it is still free when the server is started again. Each test
/// is a process, and has ten of its own.
fn port_to_come_back_to() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + 10 * u16::try_from(std::process::id() % 1_200).unwrap();
    let mut ports = (0..10).map(|_| first + TAKEN.fetch_add(1, Ordering::Relaxed));
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stop = ["-D", self.data(), "-m", "immediate", "stop"];
        self.command("pg_ctl", &stop).output().ok();
    }
}

/// A folder that PostgreSQL's own user can write to.
pub(super) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let mut chown = Command::new("chown");
        assert!(
            chown
                .arg("postgres")
                .arg(folder.path())
                .status()
                .unwrap()
                .success()
        );
    }
    folder
}

/// A primary, and a standby that has everything that was acknowledged.
fn pair(folder: &Path) -> Option<(Cluster, Cluster)> {
    let primary = Cluster::new(folder)?;
    primary.start("");
    let standby = primary.standby();
    standby.start("");
    primary.control(&["stop"]);
    primary.start("-c synchronous_standby_names=*");
    Some((primary, standby))
}

/// Has a server use the primary, lets the standby take over, and looks whether it is used instead, with everything there.
fn takes_over(primary: &Cluster, standby: &Cluster, fail: impl FnOnce()) {
    let place = Place::new();
    // The first is not there, and the second is read-only.
    let url = format!(
        "postgres://postgres@127.0.0.1:1,127.0.0.1:{},127.0.0.1:{}/postgres",
        standby.port, primary.port
    );
    let database = ["--database", url.as_str()];
    let account = place.account(&database);
    let server = place.serve(&database);
    let client = server.client(text(&account, "/test/secret_key"));
    let body = json!({ "amount": "5", "currency": "USD" });
    let made = client.post("/v1/invoices", "before", &body).unwrap();
    let made = made.expect(201);
    fail();
    standby.control(&["promote"]);
    let mut number = 0;
    let is_used = || {
        number += 1;
        let made = client.post("/v1/invoices", &format!("after-{number}"), &body);
        made.unwrap().status == 201
    };
    assert!(comes_true_within(Duration::from_secs(15), is_used));
    server.log_until("another one is used from now on");
    until("it is ready", || {
        client.get("/readyz").unwrap().status == 200
    });
    let path = format!("/v1/invoices/{}", text(&made, "/id"));
    let found = client.get(&path).unwrap().expect(200);
    assert_eq!(found["payment_options"], made["payment_options"]);
    server.stop();
}

#[test]
fn of_several_database_servers_a_writable_one_is_used_and_another_after_a_failover() {
    let folder = folder();
    if let Some((primary, standby)) = pair(folder.path()) {
        let stop = ["-m", "immediate", "stop"];
        takes_over(&primary, &standby, || primary.control(&stop));
    }
}

#[test]
fn a_database_server_that_becomes_read_only_is_left_for_another() {
    let folder = folder();
    if let Some((primary, standby)) = pair(folder.path()) {
        takes_over(&primary, &standby, || {
            primary.ask("ALTER SYSTEM SET default_transaction_read_only = on");
            primary.ask("SELECT pg_reload_conf()");
        });
    }
}

#[test]
fn servers_that_will_not_do_are_told_one_by_one() {
    let folder = folder();
    let Some(primary) = Cluster::new(folder.path()) else {
        return;
    };
    primary.start("");
    let standby = primary.standby();
    standby.start("");
    let place = Place::new();
    let migrate = |hosts: &str, more: &str| {
        let url = format!("postgres://postgres:hunter2@{hosts}/postgres{more}");
        place.till(&["migrate", "--database", &url])
    };
    let at = |cluster: &Cluster| format!("127.0.0.1:{}", cluster.port);
    let line = migrate(&format!("127.0.0.1:1,{}", at(&standby)), "").fails(1);
    for part in [
        "127.0.0.1:1/postgres: ",
        "refused",
        &format!(
            "{}/postgres: the database is a read-only replica",
            at(&standby)
        ),
        "connect to the primary",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(!line.contains("hunter2"), "{line}");
    let line = migrate(&at(&standby), "?target_session_attrs=read-write").fails(1);
    assert!(line.contains("read-only replica"), "{line}");
    let line = migrate(&at(&primary), "?target_session_attrs=standby").fails(1);
    assert!(line.contains("read-write, primary or any"), "{line}");
    migrate(&at(&primary), "?target_session_attrs=primary").ok();
    migrate(&format!("{},{}", at(&standby), at(&primary)), "").ok();
}

#[test]
fn a_database_is_reached_by_tls_if_its_certificate_is_the_one_that_is_trusted() {
    let folder = folder();
    let Some(cluster) = Cluster::new(folder.path()) else {
        return;
    };
    let authority = || {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (ours, another) = (authority(), authority());
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap();
    let certificate = certificate.signed_by(&key, &ours).unwrap();
    for (name, pem) in [
        ("server.crt", certificate.pem()),
        ("server.key", key.serialize_pem()),
    ] {
        let path = cluster.folder.join(name);
        fs::write(&path, pem).unwrap();
        let script = format!(
            "chmod 600 {0}; chown --reference={1} {0}",
            path.display(),
            cluster.data()
        );
        assert!(
            Command::new("sh")
                .args(["-c", &script])
                .status()
                .unwrap()
                .success()
        );
    }
    cluster.start("-c ssl=on");
    let place = Place::new();
    place.write("ours.pem", &ours.pem());
    place.write("another.pem", &another.pem());
    let migrate = |host: &str, more: &str| {
        let url = format!(
            "postgres://postgres@{host}:{}/postgres?{more}",
            cluster.port
        );
        place.till(&["migrate", "--database", &url])
    };
    migrate("localhost", "sslmode=verify-full&sslrootcert=ours.pem").ok();
    migrate("127.0.0.1", "sslmode=verify-ca&sslrootcert=ours.pem").ok();
    migrate("localhost", "sslmode=require").ok();
    for (host, more) in [
        ("localhost", "sslmode=verify-full&sslrootcert=another.pem"),
        ("localhost", "sslmode=verify-full"),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=ours.pem"),
    ] {
        let line = migrate(host, more).fails(1);
        assert!(line.contains("TLS is not agreed on"), "{more}: {line}");
        assert!(
            line.contains("correct sslmode and sslrootcert"),
            "{more}: {line}"
        );
    }
    let line = migrate("localhost", "sslmode=verify-full&sslrootcert=missing.pem").fails(1);
    assert!(line.contains("sslrootcert"), "{line}");
    let line = migrate("localhost", "sslmode=always").fails(1);
    assert!(line.contains("sslmode"), "{line}");
}
