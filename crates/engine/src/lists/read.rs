//! Reading a list from where it is, as a stream: to its end or not at all.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::time::UNIX_EPOCH;

use bytes::{Buf as _, Bytes};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::config::{Format, ListConfig, ListSource};
use super::parsed::ListError;
use super::{plain, sdn};
use crate::outbound::{Fetcher, UNWANTED};

/// Ten times the Treasury's list.
const BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// How many pieces of a download wait to be read.
const PIECES_WAITING: usize = 16;

/// A list, whole.
#[derive(Debug)]
pub struct Content {
    /// Names exactly these bytes of this list.
    pub edition: String,
    /// What its publisher calls it, or the beginning of the edition.
    pub version: String,
    pub addresses: Vec<Box<str>>,
    pub bytes: u64,
}

pub async fn read(list: &ListConfig, fetcher: &Fetcher) -> Result<Content, ListError> {
    let (name, format) = (list.name.clone(), list.format);
    match &list.source {
        ListSource::File(path) => {
            let path = path.clone();
            blocking(move || parse(&name, format, File::open(path)?)).await
        }
        ListSource::Url(url) => {
            let (pieces, waiting) = mpsc::channel(PIECES_WAITING);
            let parsing = blocking(move || parse(&name, format, Received::from(waiting)));
            let fetching = fetcher.get(url, BYTES_MAX, pieces);
            let (fetched, parsed) = tokio::join!(fetching, parsing);
            match (fetched, parsed) {
                // Whoever gave the list up does not wait for the rest of it.
                (Err(fetched), Err(error)) if fetched == UNWANTED => Err(error),
                // What never came looks like a malformed list, and what broke off may look like a shorter one.
                (Err(error), _) => Err(ListError::Fetch(error)),
                (Ok(()), parsed) => parsed,
            }
        }
    }
}

/// When its file was last written to, if it is one that is there.
pub async fn changed_at(list: &ListConfig) -> Option<i64> {
    let ListSource::File(path) = &list.source else {
        return None;
    };
    let modified = tokio::fs::metadata(path).await.ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

async fn blocking(
    work: impl FnOnce() -> Result<Content, ListError> + Send + 'static,
) -> Result<Content, ListError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ListError::Io(io::Error::other(error)))?
}

fn parse(name: &str, format: Format, source: impl Read) -> Result<Content, ListError> {
    let mut measured = Measured {
        source,
        hash: Sha256::new_with_prefix(format!("{name}\0")),
        bytes: 0,
    };
    let text = BufReader::with_capacity(64 * 1024, &mut measured);
    let found = match format {
        Format::OfacSdnAdvanced => sdn::parse(text)?,
        Format::Plain => plain::parse(text)?,
    };
    if found.addresses.is_empty() {
        return Err(ListError::Empty);
    }
    let edition = hex::encode(measured.hash.finalize());
    let version = found.version.unwrap_or_else(|| edition[..12].to_owned());
    let mut addresses: Vec<Box<str>> = found.addresses.into_iter().collect();
    addresses.sort_unstable();
    Ok(Content {
        edition,
        version,
        addresses,
        bytes: measured.bytes,
    })
}

/// Counts and digests what passes through.
struct Measured<R> {
    source: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Measured<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.bytes += read as u64;
        match self.bytes > BYTES_MAX {
            true => Err(io::Error::other("it is longer than a gigabyte")),
            false => Ok(read),
        }
    }
}

/// A download, for whoever reads and waits.
struct Received {
    pieces: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl From<mpsc::Receiver<Bytes>> for Received {
    fn from(pieces: mpsc::Receiver<Bytes>) -> Received {
        Received {
            pieces,
            piece: Bytes::new(),
        }
    }
}

impl Read for Received {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let taken = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..taken]);
        Ok(taken)
    }
}
