//! A publisher of ZeroMQ that says what a test says: libzmq, as Bitcoin Core has it. `scripts/with-zeromq` names in TILL_TEST_ZEROMQ where it is.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/publisher.cjs");

pub struct Publisher {
    child: Child,
    pub url: String,
}

impl Publisher {
    /// None where there is no library.
    pub fn start() -> Option<Publisher> {
        let Ok(folder) = std::env::var("TILL_TEST_ZEROMQ") else {
            let required = std::env::var("TILL_REQUIRE_BITCOIN").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "TILL_REQUIRE_BITCOIN is 1 but there is no ZeroMQ"
            );
            eprintln!("skipped: TILL_TEST_ZEROMQ is not set (see scripts/with-zeromq)");
            return None;
        };
        let mut child = Command::new("node")
            .args([SCRIPT, &folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let url = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("Publishing at ").map(str::to_owned))
            .expect("it says where it publishes");
        Some(Publisher { child, url })
    }

    /// Says it to whoever listens now.
    pub fn publish(&mut self, topic: &str, digits: &str) {
        let stdin = self.child.stdin.as_mut().expect("piped");
        writeln!(stdin, "{topic} {digits}").expect("it listens");
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // It ends with its standard input.
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}
