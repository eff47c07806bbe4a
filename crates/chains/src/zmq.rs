//! What a node publishes over ZeroMQ, as a subscriber hears it: ZMTP 3.0 without encryption, and of that no more than is needed. The `zeromq`
//! crate sets memory aside for as many bytes as a publisher announces, so one that lies could end the server.

use std::fmt;
use std::io;
use std::time::Duration;

use thiserror::Error;
use till_net::DialError;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

const HANDSHAKE: Duration = Duration::from_secs(5);
/// Blocks come more often than that, so the connection is taken to be dead.
const SILENCE_MAX: Duration = Duration::from_secs(3_600);
/// No transaction is longer than a block.
const PART_BYTES_MAX: u64 = 4_000_000;
/// Topic, content and a running number.
const PARTS_MAX: usize = 3;

const GREETING_BYTES: usize = 64;
const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;
const READY: &[u8] = b"\x05READY";
const SOCKET_TYPE: &[u8] = b"Socket-Type";

#[derive(Debug, Error)]
pub enum ZmqError {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("the connection ended: {0}")]
    Ended(io::ErrorKind),
    #[error("it does not answer within {} s", HANDSHAKE.as_secs())]
    Timeout,
    #[error("it published nothing for an hour")]
    Silent,
    #[error("{0}")]
    Refused(&'static str),
}

impl From<io::Error> for ZmqError {
    fn from(error: io::Error) -> ZmqError {
        ZmqError::Ended(error.kind())
    }
}

/// Where a node publishes what is new to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Publisher(Url);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not an address such as tcp://127.0.0.1:28332")]
pub struct PublisherError;

impl Publisher {
    pub fn parse(text: &str) -> Result<Publisher, PublisherError> {
        let url = Url::parse(text).map_err(|_| PublisherError)?;
        let has_more = !matches!(url.path(), "" | "/")
            || url.query().is_some()
            || url.fragment().is_some()
            || !url.username().is_empty()
            || url.password().is_some();
        // Nodes are told to listen on `*`; nobody can connect to that.
        let has_host = url.host_str().is_some_and(|host| host != "*");
        let is_place = url.scheme() == "tcp" && has_host && url.port().is_some();
        match is_place && !has_more {
            true => Ok(Publisher(url)),
            false => Err(PublisherError),
        }
    }

    /// Connects, and asks for these topics.
    pub async fn subscribe(&self, topics: &[&str]) -> Result<Subscription, ZmqError> {
        let subscribed = async {
            let mut stream = BufReader::new(till_net::connect(&self.0, HANDSHAKE).await?);
            shake_hands(&mut stream).await?;
            for topic in topics {
                let wanted = [b"\x01", topic.as_bytes()].concat();
                stream.write_all(&short_frame(0, &wanted)).await?;
            }
            Ok(Subscription { stream })
        };
        let subscribed = timeout(HANDSHAKE, subscribed).await;
        subscribed.map_err(|_| ZmqError::Timeout)?
    }
}

impl fmt::Display for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&till_net::place(&self.0))
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What was published under a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub topic: Vec<u8>,
    pub content: Vec<u8>,
}

pub struct Subscription {
    stream: BufReader<TcpStream>,
}

impl Subscription {
    /// The next message. After an error there are no more.
    pub async fn next(&mut self) -> Result<Message, ZmqError> {
        let message = timeout(SILENCE_MAX, read_message(&mut self.stream)).await;
        message.map_err(|_| ZmqError::Silent)?
    }
}

/// Both sides say which protocol they speak and what they are.
async fn shake_hands(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Result<(), ZmqError> {
    stream.write_all(&greeting()).await?;
    let mut theirs = [0; GREETING_BYTES];
    stream.read_exact(&mut theirs).await?;
    if theirs[0] != 0xff || theirs[9] & 1 == 0 || theirs[10] < 3 {
        return Err(ZmqError::Refused("it does not speak ZMTP 3"));
    }
    if theirs[12..32] != greeting()[12..32] {
        return Err(ZmqError::Refused(
            "it wants its subscribers to prove themselves",
        ));
    }
    let own = [READY, &property(SOCKET_TYPE, b"SUB")].concat();
    stream.write_all(&short_frame(COMMAND, &own)).await?;
    let frame = read_frame(stream).await?;
    let ready = frame.content.strip_prefix(READY);
    let socket_type = ready.filter(|_| frame.is_command).and_then(socket_type);
    match socket_type {
        Some(b"PUB" | b"XPUB") => Ok(()),
        _ => Err(ZmqError::Refused("it is no publisher")),
    }
}

fn greeting() -> [u8; GREETING_BYTES] {
    let mut greeting = [0; GREETING_BYTES];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..16].copy_from_slice(b"NULL");
    greeting
}

/// A name with one byte for its length, a value with four.
fn property(name: &[u8], value: &[u8]) -> Vec<u8> {
    let name_bytes = u8::try_from(name.len()).unwrap_or_default();
    let value_bytes = u32::try_from(value.len()).unwrap_or_default();
    [&[name_bytes], name, &value_bytes.to_be_bytes(), value].concat()
}

/// None where it is not among the properties, or these are malformed.
fn socket_type(mut properties: &[u8]) -> Option<&[u8]> {
    loop {
        let (name_bytes, rest) = properties.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*name_bytes))?;
        let (value_bytes, rest) = rest.split_first_chunk::<4>()?;
        let value_bytes = usize::try_from(u32::from_be_bytes(*value_bytes)).ok()?;
        let (value, rest) = rest.split_at_checked(value_bytes)?;
        // Names are the same in either case.
        if name.eq_ignore_ascii_case(SOCKET_TYPE) {
            return Some(value);
        }
        properties = rest;
    }
}

/// A frame of up to 255 bytes.
fn short_frame(flags: u8, content: &[u8]) -> Vec<u8> {
    let bytes = u8::try_from(content.len()).unwrap_or_default();
    [&[flags, bytes], content].concat()
}

struct Frame {
    is_command: bool,
    has_more: bool,
    content: Vec<u8>,
}

/// Memory is taken as bytes come, whatever is announced.
async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> Result<Frame, ZmqError> {
    let flags = stream.read_u8().await?;
    if flags & !(MORE | LONG | COMMAND) != 0 {
        return Err(ZmqError::Refused("what it publishes is malformed"));
    }
    let bytes = match flags & LONG {
        0 => u64::from(stream.read_u8().await?),
        _ => stream.read_u64().await?,
    };
    if bytes > PART_BYTES_MAX {
        return Err(ZmqError::Refused(
            "what it publishes is longer than a block",
        ));
    }
    let mut content = Vec::new();
    let read = stream.take(bytes).read_to_end(&mut content).await?;
    if u64::try_from(read).ok() != Some(bytes) {
        return Err(ZmqError::Ended(io::ErrorKind::UnexpectedEof));
    }
    Ok(Frame {
        is_command: flags & COMMAND != 0,
        has_more: flags & MORE != 0,
        content,
    })
}

/// One message from a stream of frames.
pub async fn read_message(stream: &mut (impl AsyncRead + Unpin)) -> Result<Message, ZmqError> {
    let mut parts = Vec::new();
    loop {
        let frame = read_frame(stream).await?;
        if frame.is_command {
            continue;
        }
        parts.push(frame.content);
        if !frame.has_more {
            break;
        }
        if parts.len() == PARTS_MAX {
            return Err(ZmqError::Refused("what it publishes has too many parts"));
        }
    }
    let mut parts = parts.into_iter();
    Ok(Message {
        topic: parts.next().unwrap_or_default(),
        content: parts.next().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// As libzmq 4.3 greets: version 3.1, and a length that older ones look at.
    fn libzmq_greeting() -> Vec<u8> {
        let mut greeting = greeting();
        (greeting[8], greeting[11]) = (1, 1);
        greeting.to_vec()
    }

    fn ready(socket_type: &[u8]) -> Vec<u8> {
        let identity = property(b"Identity", b"");
        let ready = [READY, &property(b"SOCKET-TYPE", socket_type), &identity].concat();
        short_frame(COMMAND, &ready)
    }

    /// Says all of it at once to whoever connects, and keeps what it hears.
    async fn publisher(says: Vec<u8>) -> (Publisher, tokio::task::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = format!("tcp://{}", listener.local_addr().unwrap());
        let heard = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(&says).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut heard = Vec::new();
            stream.read_to_end(&mut heard).await.ok();
            heard
        });
        (Publisher::parse(&place).unwrap(), heard)
    }

    async fn refused(says: Vec<u8>) -> String {
        let (publisher, _) = publisher(says).await;
        match publisher.subscribe(&["hashblock"]).await {
            Ok(mut subscription) => subscription.next().await.unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn what_is_published_is_heard() {
        let mut says = libzmq_greeting();
        says.extend(ready(b"PUB"));
        says.extend(short_frame(COMMAND, b"\x04PING\0\0"));
        says.extend(short_frame(MORE, b"hashblock"));
        says.extend(short_frame(MORE, &[7; 32]));
        says.extend(short_frame(0, &[0; 4]));
        says.extend([&[LONG][..], &300_u64.to_be_bytes(), &[9; 300]].concat());
        let (publisher, heard) = publisher(says).await;
        let mut subscription = publisher.subscribe(&["hashblock", "rawtx"]).await.unwrap();
        let block = subscription.next().await.unwrap();
        assert_eq!(block.topic, b"hashblock");
        assert_eq!(block.content, [7; 32]);
        assert_eq!(subscription.next().await.unwrap().topic, [9; 300]);
        let ended = subscription.next().await.unwrap_err().to_string();
        assert!(ended.contains("ended"), "{ended}");
        drop(subscription);
        let said = heard.await.unwrap();
        let asked = [&b"\0\x0a\x01hashblock"[..], b"\0\x06\x01rawtx"].concat();
        assert!(said.ends_with(&asked), "{said:02x?}");
    }

    #[tokio::test]
    async fn who_is_no_publisher_is_refused() {
        let greeting = libzmq_greeting();
        let then = |more: &[u8]| [&greeting, more].concat();
        let web = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        assert!(refused(web.to_vec()).await.contains("ZMTP 3"));
        let mut locked = greeting.clone();
        locked[12..17].copy_from_slice(b"CURVE");
        assert!(refused(locked).await.contains("prove themselves"));
        for other in [
            ready(b"REP"),
            ready(b""),
            short_frame(COMMAND, b"\x05READY\xff"),
        ] {
            assert!(refused(then(&other)).await.contains("no publisher"));
        }
        let not_ready = short_frame(0, &ready(b"PUB")[2..]);
        assert!(refused(then(&not_ready)).await.contains("no publisher"));
        assert!(refused(greeting).await.contains("ended"));
    }

    #[tokio::test]
    async fn what_is_too_long_or_malformed_ends_the_subscription_and_takes_no_memory() {
        let mut open = libzmq_greeting();
        open.extend(ready(b"XPUB"));
        let then = |more: &[u8]| [&open, more].concat();
        for announced in [PART_BYTES_MAX + 1, u64::MAX] {
            let frame = [&[LONG][..], &announced.to_be_bytes()].concat();
            assert!(refused(then(&frame)).await.contains("longer than a block"));
        }
        let unfinished = [&[LONG][..], &PART_BYTES_MAX.to_be_bytes(), b"x"].concat();
        assert!(refused(then(&unfinished)).await.contains("ended"));
        assert!(refused(then(&[0x80, 0])).await.contains("malformed"));
        let endless = short_frame(MORE, b"").repeat(PARTS_MAX + 1);
        assert!(refused(then(&endless)).await.contains("too many parts"));
    }

    #[test]
    fn only_a_place_is_a_publisher() {
        for text in [
            "tcp://127.0.0.1:28332",
            "tcp://[::1]:1",
            "tcp://node.example:28332/",
        ] {
            assert!(Publisher::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "tcp://127.0.0.1",
            "tcp://:28332",
            "tcp://*:28332",
            "http://127.0.0.1:28332",
            "ipc:///run/bitcoin.sock",
            "tcp://u:p@127.0.0.1:28332",
            "tcp://127.0.0.1:28332/blocks",
            "tcp://127.0.0.1:28332?topic=rawtx",
        ] {
            assert!(Publisher::parse(text).is_err(), "{text}");
        }
    }
}
