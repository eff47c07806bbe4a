//! Reads blocks for the second look, over several rounds if the endpoint is slow.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use till_chains::observer::{Header, Log};
use till_core::chain::Block;
use till_watch::{Endpoint, Span, read_logs};
use tokio::time::timeout;

use super::network_watch::NetworkWatch;
use super::trouble::Trouble;

/// How long a round waits for it.
const READING_TIME: Duration = Duration::from_millis(500);

/// The logs of some blocks, once they were read. None if the endpoint does not have the blocks.
type Logs<'e> = BoxFuture<'e, Result<Option<Vec<Log>>, Trouble>>;

/// Blocks that are being read from an endpoint for the second look. If that takes longer than a round it goes on in the
/// next one.
pub(super) struct SecondReading<'e> {
    pub(super) source: &'e Endpoint,
    blocks: Vec<Block>,
    /// A mutex makes the follower shareable between threads; nobody waits for it.
    logs: Mutex<Logs<'e>>,
}

impl<'e> SecondReading<'e> {
    fn begin(watch: NetworkWatch<'e>, source: &'e Endpoint, blocks: Vec<Block>) -> Self {
        let of = blocks.clone();
        let logs = async move {
            let Some(headers) = headers_of(watch, source, &of).await? else {
                return Ok(None);
            };
            let logs = read_logs(watch.pool, source, &Span::default(), &headers).await?;
            Ok(Some(logs))
        };
        SecondReading {
            source,
            blocks,
            logs: Mutex::new(logs.boxed()),
        }
    }

    pub(super) fn first_height(&self) -> Option<i64> {
        self.blocks.first().map(|block| block.height)
    }

    /// Continues the reading that begins at the first of these blocks, or begins one. Returns the blocks and their
    /// logs; None while it is under way, and if the endpoint does not have the blocks.
    pub(super) async fn go_on(
        watch: NetworkWatch<'e>,
        kept: &mut Option<SecondReading<'e>>,
        source: &'e Endpoint,
        blocks: Vec<Block>,
    ) -> Result<Option<(Vec<Block>, Vec<Log>)>, Trouble> {
        let first = blocks.first().map(|block| block.height);
        let under_way = kept.take().filter(|it| it.first_height() == first);
        let mut reading = under_way.unwrap_or_else(|| SecondReading::begin(watch, source, blocks));
        let logs = reading.logs.get_mut();
        let logs = logs.unwrap_or_else(PoisonError::into_inner);
        let answer = timeout(READING_TIME, logs).await;
        match answer {
            Ok(logs) => Ok(logs?.map(|logs| (reading.blocks, logs))),
            Err(_) => {
                *kept = Some(reading);
                Ok(None)
            }
        }
    }
}

/// An endpoint's headers of these blocks. None if it is behind or on another chain; reading on finds out which.
pub(super) async fn headers_of(
    watch: NetworkWatch<'_>,
    source: &Endpoint,
    blocks: &[Block],
) -> Result<Option<Vec<Header>>, Trouble> {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Ok(None);
    };
    let headers = watch.headers(source, (first.height, last.height)).await?;
    let is_it = |(it, block): (&Header, &Block)| block.hash == it.hash.text();
    let are_they = headers.len() == blocks.len() && headers.iter().zip(blocks).all(is_it);
    Ok(are_they.then_some(headers))
}
