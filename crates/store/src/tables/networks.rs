//! Watched networks: how far they were read and are settled, who may write about them, and whether they are frozen.
//! Not scoped: a chain belongs to nobody.

use std::collections::HashMap;

use till_core::chain::{Block, Tips};

use crate::sql::{Conflict, Record, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct NetworkRow in "networks" by id {
        /// The CAIP-2 id.
        id: String,
        /// Rises with every change of leader: a leader that woke up late is told by it.
        epoch: i64,
        owner: Option<String>,
        /// When the owner was last heard of, by the clock that all servers share.
        heard_at: Option<i64>,
        cursor_height: Option<i64>,
        cursor_hash: Option<String>,
        safe_height: Option<i64>,
        final_height: Option<i64>,
        frozen_at: Option<i64>,
        /// The lowest final block that was replaced.
        frozen_from: Option<i64>,
        frozen_reason: Option<String>,
        /// Up to where it was read a second time, behind the last final block.
        checked_height: Option<i64>,
    }
}

impl NetworkRow {
    pub fn tips(&self) -> Tips {
        Tips {
            safe: self.safe_height,
            last_final: self.final_height,
        }
    }
}

/// What a leader's step changes.
const CHANGING: &[&str] = &[
    "heard_at",
    "cursor_height",
    "cursor_hash",
    "safe_height",
    "final_height",
    "frozen_at",
    "frozen_from",
    "frozen_reason",
    "checked_height",
];

pub async fn find(q: &mut impl Queries, id: &str) -> Result<Option<NetworkRow>, StoreError> {
    let sql = format!("{} WHERE id = $1", select::<NetworkRow>());
    q.one(&sql, &vals![id]).await
}

/// Every network that was ever watched.
pub async fn all(q: &mut impl Queries) -> Result<Vec<NetworkRow>, StoreError> {
    q.all(&format!("{} ORDER BY id", select::<NetworkRow>()), &[])
        .await
}

/// The network, locked until the unit of work ends.
pub async fn lock(tx: &mut Tx, id: &str) -> Result<Option<NetworkRow>, StoreError> {
    let sql = format!(
        "{} WHERE id = $1{}",
        select::<NetworkRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![id]).await
}

/// The time by which leaders are heard of: one clock for all servers, so that none of theirs makes one wait. It is the
/// database's; where there is one machine, it is ours.
pub async fn heard_by(tx: &mut Tx, ours: i64) -> Result<i64, StoreError> {
    Ok(tx.clock_ms().await?.unwrap_or(ours))
}

/// Takes the network over: its epoch rises. None while its owner is somebody else who was heard of not longer ago than
/// `lasts`. Nor can anybody be heard of further ahead: then a clock was set back, and who that was is not waited for.
pub async fn lead(
    tx: &mut Tx,
    id: &str,
    owner: &str,
    now: i64,
    lasts: i64,
) -> Result<Option<i64>, StoreError> {
    let make = "INSERT INTO networks (id, epoch) VALUES ($1, 0) ON CONFLICT DO NOTHING";
    tx.run(make, &vals![id]).await?;
    let sql = "UPDATE networks SET epoch = epoch + 1, owner = $2, heard_at = $3 \
         WHERE id = $1 AND (owner IS NULL OR owner = $2 OR heard_at IS NULL OR heard_at < $4 OR heard_at > $5) RETURNING epoch";
    let (oldest, newest) = (now - lasts, now + lasts);
    let args = vals![id, owner, now, oldest, newest];
    let led: Option<(i64,)> = tx.one(sql, &args).await?;
    Ok(led.map(|(epoch,)| epoch))
}

/// Says that the leader of this epoch is alive. False when somebody else leads.
pub async fn beat(tx: &mut Tx, id: &str, epoch: i64, now: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE networks SET heard_at = $3 WHERE id = $1 AND epoch = $2";
    Ok(tx.run(sql, &vals![id, epoch, now]).await? == 1)
}

/// The leader of this epoch leaves: whoever asks next may lead.
pub async fn resign(tx: &mut Tx, id: &str, epoch: i64) -> Result<(), StoreError> {
    let sql = "UPDATE networks SET owner = NULL, heard_at = NULL WHERE id = $1 AND epoch = $2";
    tx.run(sql, &vals![id, epoch]).await.map(drop)
}

/// Notes up to where a network was read a second time, and before up to where. False when somebody else leads, or an operator
/// has said meanwhile that it is to be read again.
pub async fn check(
    tx: &mut Tx,
    id: &str,
    epoch: i64,
    (before, checked_height): (Option<i64>, i64),
) -> Result<bool, StoreError> {
    let sql = "UPDATE networks SET checked_height = $3 \
         WHERE id = $1 AND epoch = $2 AND COALESCE(checked_height, -1) = $4";
    let args = vals![id, epoch, checked_height, before.unwrap_or(-1)];
    Ok(tx.run(sql, &args).await? == 1)
}

/// When the block was made that was read last, of each network that goes on: at no time where none is known. Those that are frozen
/// are not among them.
pub async fn read_up_to(q: &mut impl Queries) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = "SELECT n.id, COALESCE(b.time, 0) FROM networks n LEFT JOIN blocks b ON b.network = n.id AND b.height = n.cursor_height \
         WHERE n.frozen_at IS NULL";
    q.all(sql, &[]).await
}

/// When the blocks were made that were read last and are final, of each network that is known.
pub struct Times {
    pub read: Option<i64>,
    pub last_final: Option<i64>,
}

pub async fn times(q: &mut impl Queries) -> Result<HashMap<String, Times>, StoreError> {
    let sql = "SELECT n.id, r.time, f.time FROM networks n \
         LEFT JOIN blocks r ON r.network = n.id AND r.height = n.cursor_height \
         LEFT JOIN blocks f ON f.network = n.id AND f.height = n.final_height";
    let rows: Vec<(String, Option<i64>, Option<i64>)> = q.all(sql, &[]).await?;
    let times = |(id, read, last_final)| (id, Times { read, last_final });
    Ok(rows.into_iter().map(times).collect())
}

pub fn updates(network: &NetworkRow) -> Result<Write, StoreError> {
    Write::update_records(&["id"], CHANGING, [network])
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct BlockRow in "blocks" by hash {
        network: String,
        height: i64,
        hash: String,
        parent: String,
        time: i64,
    }
}

impl BlockRow {
    pub fn new(network: &str, block: &Block) -> BlockRow {
        BlockRow {
            network: network.to_owned(),
            height: block.height,
            hash: block.hash.clone(),
            parent: block.parent.clone(),
            time: block.time,
        }
    }

    pub fn block(self) -> Block {
        Block {
            height: self.height,
            hash: self.hash,
            parent: self.parent,
            time: self.time,
        }
    }
}

/// The window that is kept of a network, by height.
pub async fn window(q: &mut impl Queries, network: &str) -> Result<Vec<Block>, StoreError> {
    let sql = format!(
        "{} WHERE network = $1 ORDER BY height",
        select::<BlockRow>()
    );
    let rows: Vec<BlockRow> = q.all(&sql, &vals![network]).await?;
    Ok(rows.into_iter().map(BlockRow::block).collect())
}

/// Puts blocks at their heights.
pub fn blocks(blocks: &[BlockRow]) -> Write {
    Write::records(blocks).on_conflict(Conflict::Replace {
        key: "network, height",
        columns: &["hash", "parent", "time"],
    })
}

/// Forgets the blocks from a height on, which were replaced, and those below another, which nobody asks for any more.
pub async fn forget_blocks(
    tx: &mut Tx,
    network: &str,
    from: Option<i64>,
    below: Option<i64>,
) -> Result<(), StoreError> {
    let sql = format!(
        "DELETE FROM {} WHERE network = $1 AND (height >= $2 OR height < $3)",
        BlockRow::TABLE
    );
    let args = vals![
        network,
        from.unwrap_or(i64::MAX),
        below.map_or(Val::Int(i64::MIN), Val::Int)
    ];
    tx.run(&sql, &args).await.map(drop)
}
