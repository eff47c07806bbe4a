//! What systemd, or whoever else keeps the server running, is told: that it is ready, that it stops, and that it is alive.

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

/// Nobody, where nobody asked to be told.
#[derive(Clone, Default)]
pub struct ServiceManager {
    socket: Option<Arc<UnixDatagram>>,
    /// How long it waits for a sign of life.
    patience: Option<Duration>,
}

impl ServiceManager {
    pub fn of_environment() -> ServiceManager {
        let socket = env::var("NOTIFY_SOCKET").ok();
        let socket = socket.and_then(|name| connect(&name).ok()).map(Arc::new);
        let patience = env::var("WATCHDOG_USEC").ok();
        let patience = patience.and_then(|text| text.parse().ok());
        ServiceManager {
            patience: socket
                .as_ref()
                .and(patience)
                .map(Duration::from_micros)
                .filter(|time| !time.is_zero()),
            socket,
        }
    }

    pub fn ready(&self) {
        self.tell("READY=1\nSTATUS=Serving");
    }

    pub fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=Stopping");
    }

    /// Says so twice in the time that is waited, for as long as the runtime runs what it is given.
    pub async fn stay_alive(self) {
        let Some(patience) = self.patience else {
            return;
        };
        loop {
            self.tell("WATCHDOG=1");
            tokio::time::sleep(patience / 2).await;
        }
    }

    /// Whoever does not listen has not asked.
    fn tell(&self, words: &str) {
        if let Some(socket) = &self.socket {
            socket.send(words.as_bytes()).ok();
        }
    }
}

/// A path, or after an at sign a name that no file has.
fn connect(name: &str) -> io::Result<UnixDatagram> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.connect_addr(&address)?;
    Ok(socket)
}
