//! The head of a network: the highest block that enough endpoints have. A block that one endpoint has alone is not
//! read, however far ahead it is.

use futures::FutureExt as _;
use till_chains::BlockHash;
use till_chains::observer::Header;
use till_core::chain::Block;

use crate::endpoint::Endpoint;
use crate::endpoint_tips::EndpointTips;
use crate::latecomers::{GRACE, answers_in_time};
use crate::pool::Pool;

/// How far down to search for a block that enough endpoints have, while no block is known.
const BACK_AT_FIRST: i64 = 256;

/// The highest block that enough endpoints have, and how to read up to it.
pub struct Head<'s> {
    pub block: Header,
    /// The endpoints that have it, in the operator's order.
    pub holders: Vec<&'s Endpoint>,
    /// How many endpoints must agree: the quorum, or all that answer while they are fewer. Fewer than the quorum
    /// suffice to show a transfer, and for nothing else.
    pub need: usize,
    /// The height to read to if all endpoints agreed.
    pub wanted: i64,
    /// The most blocks of this network that are read in one step.
    blocks_at_most: i64,
}

impl<'s> Head<'s> {
    /// Moves endpoints that are deprioritised, distrusted or late behind the others, so that they are read last.
    pub fn prefer_prompt(&mut self, now_us: u64) {
        self.holders.sort_by_key(|holder| !holder.is_prompt(now_us));
    }

    /// The range of heights to read next, as long as the reader with the smallest share allows.
    pub fn next(&self, from: i64) -> (i64, i64) {
        let most = self.readers().iter().map(|reader| reader.blocks_at_most());
        let most = most.min().unwrap_or(1).min(self.blocks_at_most);
        (from, self.block.height.min(from + most - 1))
    }

    /// The same head, held by these endpoints alone. None if fewer than `need` have it.
    pub fn among(&self, said: &[EndpointTips<'_>]) -> Option<Head<'s>> {
        let is_among =
            |holder: &&&Endpoint| said.iter().any(|it| std::ptr::eq(it.source, **holder));
        let holders: Vec<&'s Endpoint> = self.holders.iter().filter(is_among).copied().collect();
        (holders.len() >= self.need).then(|| Head {
            block: self.block.clone(),
            holders,
            need: self.need,
            wanted: self.wanted,
            blocks_at_most: self.blocks_at_most,
        })
    }

    /// Whether the head is more than one block below `wanted`, because endpoints disagree about blocks in between.
    pub fn is_short(&self) -> bool {
        self.block.height + 1 < self.wanted
    }

    /// The endpoints to read from: the first `need` of the holders.
    pub fn readers(&self) -> &[&'s Endpoint] {
        &self.holders[..self.need]
    }
}

/// The highest block that enough endpoints have. None if they share no block of the known window, nor of the last 256
/// while none is known.
pub async fn agreed_head<'s>(
    pool: Pool<'_>,
    said: &[EndpointTips<'s>],
    window: &[Block],
) -> Option<Head<'s>> {
    let need = pool.net.quorum.min(said.len());
    let mut heights: Vec<i64> = said.iter().map(|it| it.latest.height).collect();
    heights.sort_unstable_by(|a, b| b.cmp(a));
    let wanted = *heights.get(need.checked_sub(1)?)?;
    let head = |held: BlockHolders<'s>| Head {
        block: held.block,
        holders: held.holders,
        need,
        wanted,
        blocks_at_most: pool.observer().blocks_at_most(),
    };
    if let Some(held) = held_at(pool, said, window, wanted, need).await {
        return Some(head(held));
    }
    let lowest = window.first().map(|block| block.height);
    let mut low = lowest.unwrap_or(wanted - BACK_AT_FIRST).clamp(0, wanted);
    let mut found = held_at(pool, said, window, low, need).await?;
    // Chains that have a block in common have all of those below it in common.
    let mut high = wanted;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match held_at(pool, said, window, middle, need).await {
            Some(held) => (found, low) = (held, middle),
            None => high = middle,
        }
    }
    Some(head(found))
}

/// A block, and the endpoints that have it.
pub(crate) struct BlockHolders<'s> {
    pub block: Header,
    pub holders: Vec<&'s Endpoint>,
}

/// The block that most endpoints have at a height, if at least `need` have it. Among equals the known block wins.
pub(crate) async fn held_at<'s>(
    pool: Pool<'_>,
    said: &[EndpointTips<'s>],
    window: &[Block],
    height: i64,
    need: usize,
) -> Option<BlockHolders<'s>> {
    let asked = said.iter().map(|it| {
        async move {
            let header = match it.latest.height {
                latest if latest < height => None,
                latest if latest == height => Some(it.latest.clone()),
                _ => {
                    let asked = pool.header(it.source, height);
                    asked.await.ok().flatten()
                }
            };
            header.map(|header| (it.source, header))
        }
        .boxed()
    });
    let have_it = |told: &[Option<Option<(&'s Endpoint, Header)>>]| {
        let hashes = told.iter().flatten().flatten();
        let hashes: Vec<BlockHash> = hashes.map(|(_, it)| it.hash).collect();
        let same = |hash: &BlockHash| hashes.iter().filter(|other| *other == hash).count();
        hashes.iter().any(|hash| same(hash) >= need)
    };
    let told = answers_in_time(asked.collect(), || GRACE, have_it).await;
    let told = told.into_iter().flatten();
    let ours = window.iter().find(|block| block.height == height);
    let is_ours = |block: &Header| ours.is_some_and(|ours| ours.hash == block.hash.text());
    let groups = grouped(told.flatten(), |header: &Header| header.hash);
    let groups = groups.into_iter().rev();
    let (block, holders) = groups.max_by_key(|(it, holders)| (holders.len(), is_ours(it)))?;
    (holders.len() >= need).then_some(BlockHolders { block, holders })
}

/// Groups endpoints by equal answers, in the order in which the answers first came.
pub(crate) fn grouped<'s, T, K: PartialEq>(
    told: impl Iterator<Item = (&'s Endpoint, T)>,
    key: impl Fn(&T) -> K,
) -> Vec<(T, Vec<&'s Endpoint>)> {
    let mut groups: Vec<(T, Vec<&'s Endpoint>)> = Vec::new();
    for (source, it) in told {
        match groups.iter_mut().find(|(known, _)| key(known) == key(&it)) {
            Some((_, sources)) => sources.push(source),
            None => groups.push((it, vec![source])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::ask_all;
    use crate::scripted::{Scripted, window};

    /// The chains of three endpoints, of which two must agree; what we know; the head, and who has it.
    type Row = (
        [&'static str; 3],
        &'static str,
        Option<(i64, &'static [usize])>,
    );

    #[tokio::test]
    async fn the_head_is_the_furthest_block_that_enough_have() {
        let rows: [Row; 7] = [
            (["abcd", "abcd", "abcd"], "ab", Some((3, &[0, 1, 2]))),
            (["abcd", "abc", "ab"], "ab", Some((2, &[0, 1]))),
            // One is far ahead, on a chain that it has alone.
            (["abxyzuvw", "abcd", "abcd"], "ab", Some((3, &[1, 2]))),
            (["abcd", "abxy", "abcd"], "abx", Some((3, &[0, 2]))),
            // None agree above what all have.
            (["abcd", "abxy", "abuv"], "ab", Some((1, &[0, 1, 2]))),
            (["abcde", "abxyz", "ab"], "abc", Some((1, &[0, 1, 2]))),
            (["cd", "xy", "uv"], "cd", None),
        ];
        for (chains, known, expected) in rows {
            let scripted = Scripted::of(&chains).await;
            let said = ask_all(scripted.pool()).await;
            let head = agreed_head(scripted.pool(), &said, &window(known)).await;
            let head = head.map(|head| {
                let holders = head.holders.iter().copied();
                (head.block.height, scripted.places(holders))
            });
            let expected = expected.map(|(height, holders)| (height, holders.to_vec()));
            assert_eq!(head, expected, "{chains:?}");
        }
    }
}
