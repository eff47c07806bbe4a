//! Listens to what nodes publish over ZeroMQ. A message is a hint and never the truth: all it does is start the next
//! round early. A publisher that is silent or lies has a payment seen later, or a round run in vain.

use std::convert::Infallible;
use std::time::Duration;

use futures::future;
use till_chains::observer::News;
use till_chains::zmq::{Message, Publisher, Subscription, ZmqError};

use crate::pool::Pool;

const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Listens to all publishers of a network, until the future is dropped.
pub async fn listen(pool: Pool<'_>) -> Infallible {
    let publishers = pool.net.publishers.iter();
    future::join_all(publishers.map(|it| listen_to(pool, it))).await;
    future::pending().await
}

/// Reconnects with backoff. An outage is logged once, and again only after a connection that lasted.
async fn listen_to(pool: Pool<'_>, publisher: &Publisher) -> Infallible {
    let network = &*pool.network().id;
    let mut retry = RETRY_MIN;
    let mut is_told = false;
    loop {
        let begun_us = pool.now_us();
        let error = match publisher.subscribe(pool.net.observer.topics()).await {
            Ok(subscription) => {
                if is_told {
                    tracing::info!(network, %publisher, "a publisher is heard again");
                }
                hear(pool, subscription).await
            }
            Err(error) => error,
        };
        let lasted = Duration::from_micros(pool.now_us().saturating_sub(begun_us));
        if lasted >= RETRY_MAX {
            (retry, is_told) = (RETRY_MIN, false);
        }
        if !is_told && !matches!(error, ZmqError::Silent) {
            tracing::warn!(network, %publisher, %error, "a publisher is not heard, so payments are seen a little later; it is tried again: check `zmq` of its network if this lasts");
            is_told = true;
        }
        tokio::time::sleep(retry).await;
        retry = RETRY_MAX.min(retry * 2);
    }
}

/// Turns messages into hints until the connection ends. Returns why it ended.
async fn hear(pool: Pool<'_>, mut subscription: Subscription) -> ZmqError {
    // What came while nobody listened is looked for, too.
    pool.net.hints.hint();
    loop {
        match subscription.next().await {
            Ok(message) if is_news(pool, &message) => pool.net.hints.hint(),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}

/// Whether a message announces a block, or a transaction that may pay us. On a busy network most do neither.
fn is_news(pool: Pool<'_>, message: &Message) -> bool {
    match pool.net.observer.news(message) {
        News::Block => true,
        News::Paid(to) => pool.net.set.may_have(&to).contains(&true),
        News::Nothing => false,
    }
}

#[cfg(test)]
mod tests {
    use till_chains::rpc::Endpoint;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::scripted::Still;
    use crate::settings::{EndpointSettings, WatchSettings};
    use crate::watching::Watching;

    const REGTEST: &str = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
    const OURS: [u8; 20] = [0x11; 20];
    const HOUR: Duration = Duration::from_secs(3_600);

    fn watching(publishers: Vec<Publisher>) -> Watching {
        let settings = WatchSettings {
            endpoints: EndpointSettings {
                of: vec![Endpoint::parse("http://127.0.0.1:1").unwrap()],
                quorum: None,
            },
            publishers,
            scan_from: None,
        };
        let networks = [(REGTEST.to_owned(), settings)].into();
        let watching = Watching::new(networks, 0).unwrap().unwrap();
        watching.networks[0].set.insert(&[OURS]);
        watching
    }

    /// A transaction with one input and an output to each of these.
    fn paying(to: &[[u8; 20]]) -> Vec<u8> {
        let mut bytes = [&[1, 0, 0, 0, 1][..], &[7; 36], &[0], &[0xff; 4]].concat();
        bytes.push(u8::try_from(to.len()).unwrap());
        for program in to {
            bytes.extend([&[1, 0, 0, 0, 0, 0, 0, 0, 22, 0, 20][..], program].concat());
        }
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn blocks_are_news_and_of_transactions_those_that_may_pay_us() {
        let watching = watching(Vec::new());
        let pool = Pool::of(&watching, &Still, 0).unwrap();
        let is_news = |topic: &str, content: &[u8]| {
            let topic = topic.as_bytes().to_vec();
            let content = content.to_vec();
            super::is_news(pool, &Message { topic, content })
        };
        assert!(is_news("hashblock", &[7; 32]));
        assert!(is_news("rawtx", &paying(&[[0x22; 20], OURS])));
        assert!(!is_news("rawtx", &paying(&[[0x22; 20]])));
        let unfinished = &paying(&[OURS])[1..];
        assert!(!is_news("rawtx", unfinished));
        assert!(!is_news("rawtx", b""));
        assert!(!is_news("rawtxs", &paying(&[OURS])));
        assert!(!is_news("", b""));
    }

    /// Greets, publishes one block, and hangs up.
    async fn publish(listener: &TcpListener) {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut says = vec![0; 64];
        (says[0], says[9], says[10]) = (0xff, 0x7f, 3);
        says[12..16].copy_from_slice(b"NULL");
        says.extend(b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03PUB");
        stream.write_all(&says).await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\x01rawtx") {
            assert_ne!(stream.read_buf(&mut heard).await.unwrap(), 0);
        }
        stream.write_all(b"\x01\x09hashblock\0\x01x").await.unwrap();
        stream.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_publisher_is_heard_and_heard_again_and_a_dead_one_changes_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = format!("tcp://{}", listener.local_addr().unwrap());
        let publishers = ["tcp://127.0.0.1:1", &place];
        let publishers = publishers.map(|it| Publisher::parse(it).unwrap());
        let watching = watching(publishers.to_vec());
        let pool = Pool::of(&watching, &Still, 0).unwrap();
        let hints = &pool.net.hints;
        let twice = async {
            for _ in 0..2 {
                publish(&listener).await;
                assert!(hints.wait(Duration::ZERO, HOUR).await);
            }
        };
        tokio::select! {
            () = twice => {}
            never = listen(pool) => match never {},
        }
    }
}
