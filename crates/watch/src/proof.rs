//! What a block holds, proven: where receipts make up the root that an agreed header names they are the truth, whoever sent
//! them. Nobody needs to agree with whoever sent them, and whoever says otherwise is wrong.

use futures::FutureExt as _;
use till_chains::BlockHash;
use till_chains::observer::{BlockContents, Header, Receipts};
use till_chains::rpc::RpcError;

use crate::pool::Pool;
use crate::quorum::{QuorumAnswer, ask_quorum};

/// All receipts of one block. None where its header is not agreed on, or nobody gives receipts that it names.
pub(crate) async fn prove_block(
    pool: Pool<'_>,
    (height, block): (i64, BlockHash),
    agreed: Option<&Header>,
) -> Option<Receipts> {
    if !pool.observer().proves_contents() {
        return None;
    }
    let header = match agreed {
        Some(header) => header.clone(),
        None => voted(pool, height).await?,
    };
    if header.hash != block {
        return None;
    }
    let mut usable = pool.usable();
    let now_us = pool.now_us();
    usable.sort_by_key(|source| !source.is_prompt(now_us));
    let mut unreadable = Vec::new();
    for source in usable {
        let told = pool.observer().contents(pool.rpc, &source.address, &header);
        match told.await {
            Ok(BlockContents::Proven(receipts)) => {
                for source in unreadable {
                    pool.false_contents(
                        source,
                        "receipts of a kind that their block does not have",
                    );
                }
                return Some(receipts);
            }
            // A kind of receipt that is not known is new on the network, or made up: another endpoint shows which.
            Ok(BlockContents::Unprovable) => unreadable.push(source),
            Ok(BlockContents::Others) => {
                pool.false_contents(source, "receipts that their block does not have");
            }
            Err(error @ (RpcError::Unreachable(_) | RpcError::CutOff)) => {
                pool.failed(source, &error);
            }
            // Not every node can be asked so.
            Err(_) => {}
        }
    }
    None
}

/// The header at a height, where as many endpoints as must agree give the very same.
async fn voted(pool: Pool<'_>, height: i64) -> Option<Header> {
    let told = ask_quorum(pool, |source| {
        async move { pool.header(source, height).await.ok().flatten() }.boxed()
    });
    match told.await {
        QuorumAnswer::Agreed(header) => Some(header),
        QuorumAnswer::Contradicted | QuorumAnswer::Unknown => None,
    }
}
