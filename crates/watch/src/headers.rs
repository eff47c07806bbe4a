//! The headers of the next blocks, as several endpoints give them. They must be identical: nothing else proves hash,
//! parent, time and bloom.

use futures::FutureExt as _;
use till_chains::observer::Header;

use crate::heads::{Head, grouped};
use crate::latecomers::readers_in_time;
use crate::pool::{EndpointTrouble, Pool};

/// Reads the headers of a range up to the first block that the readers disagree about, with the reason if it ends
/// early.
pub async fn agreed(
    pool: Pool<'_>,
    head: &Head<'_>,
    (from, to): (i64, i64),
) -> Result<(Vec<Header>, Option<String>), EndpointTrouble> {
    let readers = head.readers();
    let ask = |reader| async move { pool.headers(reader, (from, to)).await }.boxed();
    let told = readers_in_time(pool, &head.holders, readers, ask).await;
    let told = told.into_iter().map(|it| it.ok_or(EndpointTrouble)?);
    let told: Vec<Vec<Header>> = told.collect::<Result<_, EndpointTrouble>>()?;
    let Some((first, others)) = told.split_first() else {
        return Ok((Vec::new(), None));
    };
    let shortest = told.iter().map(Vec::len).min().unwrap_or_default();
    let differs = |at: &usize| others.iter().any(|other| other[*at] != first[*at]);
    let Some(at) = (0..shortest).find(differs) else {
        let why = format!(
            "an endpoint does not have the block at height {from}, which others have on it"
        );
        return Ok((first[..shortest].to_vec(), (shortest == 0).then_some(why)));
    };
    let height = first[at].height;
    if let Some(agreed) = blame(pool, head, height).await? {
        // An endpoint that changed its answer is read after the others.
        let fickle = readers.iter().zip(&told).filter(|(_, it)| it[at] != agreed);
        for (reader, _) in fickle {
            pool.unsettled(reader);
        }
    }
    let why = format!("the endpoints disagree about the block at height {height}");
    Ok((first[..at].to_vec(), Some(why)))
}

/// Asks all holders of the head for the one block that it can have at a lower height, and excludes those that a quorum
/// contradicts. Returns the block if a quorum gives it and nobody contradicts.
async fn blame(
    pool: Pool<'_>,
    head: &Head<'_>,
    height: i64,
) -> Result<Option<Header>, EndpointTrouble> {
    let asked = head.holders.iter().map(|holder| {
        async move {
            let header = pool.header(holder, height).await.ok()??;
            let top = pool.header(holder, head.block.height).await.ok()??;
            // One whose chain was changed meanwhile said nothing wrong.
            (top.hash == head.block.hash).then_some((*holder, header))
        }
        .boxed()
    });
    let told = futures::future::join_all(asked).await;
    let mut groups = grouped(told.into_iter().flatten(), Header::clone);
    groups.sort_by_key(|(_, holders)| std::cmp::Reverse(holders.len()));
    let is_settled = groups
        .first()
        .is_some_and(|(_, holders)| holders.len() >= pool.net.quorum);
    if !is_settled || groups.len() < 2 {
        let agreed = groups.into_iter().next().filter(|_| is_settled);
        return Ok(agreed.map(|(header, _)| header));
    }
    for source in groups.into_iter().skip(1).flat_map(|(_, holders)| holders) {
        pool.lied(
            source,
            "another block below one that it has like the others",
        );
    }
    Err(EndpointTrouble)
}
