//! The real binary, and a client that speaks to it over plain sockets: nothing of Till's own code stands
//! between a test and what it tests.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

#[path = "../../../api/tests/dashboard/authenticator.rs"]
#[expect(dead_code, reason = "the dashboard's own tests use all of it")]
mod authenticator;
pub mod browser;

/// Generous: a machine under load is slow, and a test that waits in vain fails all the same.
pub const PATIENCE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(20);

/// A folder of its own, with nothing of the surroundings leaking in.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("writable");
        path
    }

    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("readable");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("readable").file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
        command.current_dir(self.folder.path()).args(args);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TILL_") {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub fn till(&self, args: &[&str]) -> Done {
        Done::of(&mut self.command(args))
    }

    /// An account of a database, as `account create --json` shows it.
    pub fn account(&self, more: &[&str]) -> Value {
        let mut args = vec!["account", "create", "--name", "Acme", "--json"];
        args.extend(more);
        self.till(&args).json()
    }

    /// A server on a free port, which nobody has before it who would have to notice that it stops.
    pub fn serve(&self, more: &[&str]) -> Server {
        let mut args = vec![
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--set",
            "server.drain_s=0",
        ];
        args.extend(more);
        Server::start(&mut self.command(&args))
    }
}

pub struct Done {
    pub status: Option<i32>,
    pub stdout: String,
    /// Without the lines that say how long it has been at work: whether there are any depends on the machine.
    pub stderr: String,
}

impl Done {
    pub fn of(command: &mut Command) -> Done {
        let output = command.output().expect("the binary runs");
        Done {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr)
                .expect("text")
                .split_inclusive('\n')
                .filter(|line| !line.ends_with(" s so far\n"))
                .collect(),
        }
    }

    pub fn ok(self) -> Done {
        assert_eq!(self.status, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    pub fn json(self) -> Value {
        let done = self.ok();
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}", done.stdout);
        })
    }

    /// Asserts a failure with this status and one line on standard error, and gives the line.
    #[track_caller]
    pub fn fails(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr
    }
}

/// A running server. Dropping it kills it.
pub struct Server {
    child: Child,
    log: Receiver<String>,
    out: Receiver<String>,
    pub first_line: String,
    pub address: String,
}

impl Server {
    pub fn start(command: &mut Command) -> Server {
        let mut server = Server::spawn(command);
        server.first_line = server.log_line();
        let (_, address) = server
            .first_line
            .split_once("listening on http")
            .and_then(|(before, address)| Some((before, address.split_once("://")?.1)))
            .unwrap_or_else(|| panic!("no address: {}", server.first_line));
        server.address = address_in(address);
        server
    }

    /// Without waiting for an address.
    pub fn spawn(command: &mut Command) -> Server {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let log = lines(child.stderr.take().expect("piped"));
        let out = lines(child.stdout.take().expect("piped"));
        Server {
            child,
            log,
            out,
            first_line: String::new(),
            address: String::new(),
        }
    }

    pub fn log_line(&self) -> String {
        self.log
            .recv_timeout(PATIENCE)
            .expect("a line on standard error")
    }

    /// Waits until the log says so. A log that goes on about other things is not waited for any longer than one that is
    /// silent.
    #[track_caller]
    pub fn log_until(&self, words: &str) -> String {
        let mut found = None;
        comes_true(|| {
            found = self.log.try_iter().find(|line| line.contains(words));
            found.is_some()
        });
        found.unwrap_or_else(|| panic!("the log never said: {words}"))
    }

    pub fn out_line(&self) -> String {
        self.out
            .recv_timeout(PATIENCE)
            .expect("a line on standard output")
    }

    pub fn client(&self, key: &str) -> Client {
        Client::new(&self.address, key)
    }

    /// A client of the operator's own listener.
    pub fn operator(&self) -> Client {
        let line = self.log_until("metrics and health at http://");
        let (_, address) = line.split_once("http://").expect("an address");
        Client::new(&address_in(address), "")
    }

    /// `TERM`, `INT` or `KILL`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([format!("-{name}"), self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    pub fn wait(&mut self) -> ExitStatus {
        let mut ended = None;
        until("the server ends", || {
            ended = self.child.try_wait().expect("a child");
            ended.is_some()
        });
        ended.expect("just seen")
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Asks it to stop, and it must end well.
    pub fn stop(mut self) {
        self.signal("TERM");
        let status = self.wait();
        assert!(status.success(), "{status}");
    }
}

impl Server {
    /// Stops it, and gives all lines of its log that nobody has read.
    pub fn stop_and_read(mut self) -> Vec<String> {
        self.signal("TERM");
        self.wait();
        self.log.iter().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The address that a text begins with, whatever the line's format has behind it.
fn address_in(text: &str) -> String {
    let is_address = |c: &char| c.is_ascii_hexdigit() || ".:[]".contains(*c);
    text.chars().take_while(is_address).collect()
}

/// Lines as they come. The thread reads on when nobody listens, so that the writer never blocks.
pub fn lines(from: impl io::Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            send.send(line).ok();
        }
    });
    receive
}

/// Polls with a deadline.
#[track_caller]
pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(comes_true(is_so), "waited in vain: {what}");
}

/// The same for callers who say themselves what is missing.
pub fn comes_true(is_so: impl FnMut() -> bool) -> bool {
    comes_true_within(PATIENCE, is_so)
}

/// The same within a time that was promised, by the clock.
#[expect(
    clippy::disallowed_methods,
    reason = "how long another process takes is what is asked"
)]
pub fn comes_true_within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if is_so() {
            return true;
        }
        thread::sleep(POLL);
    }
    is_so()
}

/// One request per connection: simple, and no state that a restart could confuse.
#[derive(Clone)]
pub struct Client {
    address: String,
    key: String,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn new(address: &str, key: &str) -> Client {
        Client {
            address: address.to_owned(),
            key: key.to_owned(),
        }
    }

    pub fn get(&self, path: &str) -> io::Result<Reply> {
        let mut stream = self.connect()?;
        stream.write_all(self.head("GET", path, "").as_bytes())?;
        read_reply(&mut stream)
    }

    pub fn post(&self, path: &str, idempotency_key: &str, body: &Value) -> io::Result<Reply> {
        let mut stream = self.connect()?;
        let body = body.to_string();
        let head = self.post_head(path, idempotency_key, body.len());
        stream.write_all(format!("{head}{body}").as_bytes())?;
        read_reply(&mut stream)
    }

    pub fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    pub fn post_head(&self, path: &str, idempotency_key: &str, body_bytes: usize) -> String {
        let more = format!(
            "idempotency-key: {idempotency_key}\r\ncontent-type: application/json\r\n\
             content-length: {body_bytes}\r\n"
        );
        self.head("POST", path, &more)
    }

    pub fn head(&self, method: &str, path: &str, more: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{more}connection: close\r\n\r\n",
            self.address, self.key
        )
    }
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&self.body));
        })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{body}");
        self.json()
    }
}

/// Reads a whole reply; one that breaks off is an error, never half a reply.
pub fn read_reply(stream: &mut TcpStream) -> io::Result<Reply> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let cut = || io::Error::new(io::ErrorKind::UnexpectedEof, "the reply breaks off");
    let end = all.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(cut)?;
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok())
        .ok_or_else(cut)?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut reply = Reply {
        status,
        headers,
        body: all[end + 4..].to_vec(),
    };
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = unchunk(&reply.body).ok_or_else(cut)?;
    } else if let Some(length) = reply.header("content-length") {
        let length: usize = length.parse().map_err(|_| cut())?;
        if reply.body.len() != length {
            return Err(cut());
        }
    }
    Ok(reply)
}

fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end]).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        rest = rest.get(end + 2..)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}

/// The names of an object's fields, sorted: shapes are compared exactly.
pub fn fields(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("{value}"));
    let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_else(|| panic!("no {pointer} in {value}"))
}

/// Mode bits of a file.
pub fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}
