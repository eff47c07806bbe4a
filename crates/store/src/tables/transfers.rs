//! Transfers that touch us or might: facts about chains. Which block has one may change, and run again in another block a
//! transaction may do something else at the same place. Not scoped: a transfer knows no account.

use till_core::money::Units;

use crate::sql::{Conflict, LookUp, PerKey, Record as _, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct TransferRow in "transfers" by tx_hash {
        network: String,
        tx_hash: String,
        /// The place inside the transaction, never inside the block.
        place: i64,
        /// The asset's code; for a token that nobody knows, its contract.
        asset: String,
        units: Units,
        /// Whose it was before; empty where nobody is known.
        senders: Vec<String>,
        recipient: String,
        simulated: bool,
        /// In real time.
        first_seen_at: i64,
        /// The block that has it; none while it waits for one, or is nowhere.
        height: Option<i64>,
        block_hash: Option<String>,
        block_time: Option<i64>,
        /// It is in no block and does not wait for one any more.
        gone: bool,
        /// The payment that it is, if it is somebody's.
        payment: Option<String>,
        /// Why it is nobody's.
        unattributed as "reason": Option<String>,
        /// What came with it where that is less than it says, by the word of as many endpoints as must agree.
        arrived: Option<Units>,
        /// What registers on the chain said of the senders when it was seen.
        registers: Option<String>,
        /// As many endpoints as must agree said that nothing is missing of what came with it.
        whole: bool,
    }
}

/// What the chain says over what was known.
const FACTS: &[&str] = &[
    "asset",
    "units",
    "arrived",
    "whole",
    "registers",
    "senders",
    "recipient",
    "height",
    "block_hash",
    "block_time",
    "gone",
];

/// The same with what it means.
const FACTS_AND_MEANING: &[&str] = &[
    "asset",
    "units",
    "arrived",
    "whole",
    "registers",
    "senders",
    "recipient",
    "height",
    "block_hash",
    "block_time",
    "gone",
    "payment",
    "reason",
];

const KEY: &str = "network, tx_hash, place";

impl TransferRow {
    pub fn identity(&self) -> (&str, &str, i64) {
        (&self.network, &self.tx_hash, self.place)
    }

    /// What came with it; none where too few endpoints have said.
    pub fn came(&self) -> Option<Units> {
        match self.whole {
            true => Some(self.units),
            false => self.arrived,
        }
    }

    /// What it brought, as far as that is known.
    pub fn brought(&self) -> Units {
        self.arrived.unwrap_or(self.units)
    }

    /// Whether what came with it went elsewhere in the same block: then it is known what that was, and it is not whole.
    pub fn has_strayed(&self) -> bool {
        !self.whole && self.arrived == Some(self.units)
    }

    pub fn set_came(&mut self, came: Option<Units>, has_strayed: bool) {
        self.whole = came == Some(self.units) && !has_strayed;
        self.arrived = came.filter(|_| !self.whole);
    }
}

/// Facts, new or changed. What is known of their meaning stays.
pub fn facts<'r>(transfers: impl IntoIterator<Item = &'r TransferRow>) -> Write {
    let columns = FACTS;
    Write::records(transfers).on_conflict(Conflict::Replace { key: KEY, columns })
}

/// What these mean. The facts, which a leader wrote, stay.
pub fn meanings<'r>(transfers: impl IntoIterator<Item = &'r TransferRow>) -> Write {
    let columns = &["payment", "reason"];
    Write::records(transfers).on_conflict(Conflict::Replace { key: KEY, columns })
}

/// What nobody but the caller knows of, with what it means.
pub fn facts_and_meaning<'r>(transfers: impl IntoIterator<Item = &'r TransferRow>) -> Write {
    let columns = FACTS_AND_MEANING;
    Write::records(transfers).on_conflict(Conflict::Replace { key: KEY, columns })
}

/// Those of these transfers that are known, by network, transaction and place in it.
pub async fn find_many(
    q: &mut impl Queries,
    identities: &[(&str, &str, i64)],
) -> Result<Vec<TransferRow>, StoreError> {
    let keys: Vec<Vec<Val>> = identities
        .iter()
        .map(|(network, tx_hash, place)| vals![*network, *tx_hash, *place].into())
        .collect();
    let by_identity = LookUp::records::<TransferRow>(&["network", "tx_hash", "place"], PerKey::One);
    q.look_up(&by_identity, &keys).await
}

/// Everything that transactions moved, as far as it was observed. Each is named by its network and hash.
pub async fn of_transactions(
    q: &mut impl Queries,
    transactions: &[(&str, &str)],
) -> Result<Vec<TransferRow>, StoreError> {
    let keys: Vec<Vec<Val>> = transactions
        .iter()
        .map(|(network, tx_hash)| vals![*network, *tx_hash].into())
        .collect();
    let by_hash = LookUp {
        table: TransferRow::TABLE,
        columns: TransferRow::COLUMNS,
        key: &["network", "tx_hash"],
        rows: PerKey::Many,
    };
    q.look_up(&by_hash, &keys).await
}

/// What is in the blocks after one height and up to another.
pub async fn in_blocks(
    q: &mut impl Queries,
    network: &str,
    after: i64,
    up_to: i64,
) -> Result<Vec<TransferRow>, StoreError> {
    let sql = format!(
        "{} WHERE network = $1 AND height > $2 AND height <= $3 AND simulated = 0 ORDER BY height, tx_hash, place",
        select::<TransferRow>()
    );
    q.all(&sql, &vals![network, after, up_to]).await
}

/// Those that wait for a block, by transaction and place in it.
pub async fn waiting(
    q: &mut impl Queries,
    network: &str,
) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = "SELECT tx_hash, place FROM transfers \
         WHERE network = $1 AND height IS NULL AND gone = 0 AND simulated = 0";
    q.all(sql, &vals![network]).await
}

table! {
    /// A transfer that could not be taken in, to be tried again. It holds up nobody.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct QuarantineRow in "quarantine" by tx_hash {
        network: String,
        tx_hash: String,
        place: i64,
        error: String,
        attempts: i64,
        since: i64,
        retry_at: i64,
    }
}

impl QuarantineRow {
    pub fn identity(&self) -> (&str, &str, i64) {
        (&self.network, &self.tx_hash, self.place)
    }
}

/// Puts these aside, or back. Since when they are aside stays.
pub fn quarantines<'r>(rows: impl IntoIterator<Item = &'r QuarantineRow>) -> Write {
    Write::records(rows).on_conflict(Conflict::Replace {
        key: KEY,
        columns: &["error", "attempts", "retry_at"],
    })
}

/// Those whose time has come. On a frozen network only what is in the replaced blocks: it is to be held.
pub async fn quarantined(
    q: &mut impl Queries,
    now: i64,
    at_most: i64,
) -> Result<Vec<QuarantineRow>, StoreError> {
    let sql = format!(
        "{} WHERE retry_at <= $1 AND NOT EXISTS (SELECT 1 FROM networks n JOIN transfers t ON t.network = n.id \
         WHERE n.id = quarantine.network AND n.frozen_at IS NOT NULL AND t.tx_hash = quarantine.tx_hash \
         AND t.place = quarantine.place AND (t.height IS NULL OR t.height < n.frozen_from)) \
         ORDER BY retry_at LIMIT $2",
        select::<QuarantineRow>()
    );
    q.all(&sql, &vals![now, at_most]).await
}

pub async fn release(tx: &mut Tx, identities: &[(&str, &str, i64)]) -> Result<(), StoreError> {
    let sql = "DELETE FROM quarantine WHERE network = $1 AND tx_hash = $2 AND place = $3";
    for (network, tx_hash, place) in identities {
        tx.run(sql, &vals![*network, *tx_hash, *place]).await?;
    }
    Ok(())
}

/// Transfers to an account's addresses, and on these networks to its own destinations, that are nobody's payment, first
/// seen in a period, after the one read last. What it empties its addresses into a destination by is not among them.
pub async fn unattributed(
    q: &mut impl Queries,
    scope: &till_core::scope::Scope,
    networks: &[&str],
    (from, to): (i64, i64),
    after: Option<&TransferRow>,
    at_most: i64,
) -> Result<Vec<TransferRow>, StoreError> {
    let (at, tx_hash, place) = after.map_or((from, "", -1), |last| {
        (last.first_seen_at, last.tx_hash.as_str(), last.place)
    });
    let mut args: Vec<Val> = vals![
        &scope.account,
        scope.mode.as_str(),
        at,
        to,
        tx_hash,
        place,
        at_most
    ]
    .into();
    let mut places = Vec::with_capacity(networks.len());
    for network in networks {
        args.push(Val::from(*network));
        places.push(format!("${}", args.len()));
    }
    let leased = "SELECT address FROM leases WHERE account = $1 AND mode = $2";
    let sql = format!(
        "{} WHERE payment IS NULL AND gone = 0 AND first_seen_at < $4 AND (first_seen_at, tx_hash, place) > ($3, $5, $6) \
         AND recipient IN ({leased} UNION SELECT destination FROM destinations WHERE account = $1 AND mode = $2) \
         AND (recipient IN ({leased}) OR (network IN ({}) AND (reason IS NULL OR reason <> 'sweep'))) \
         ORDER BY first_seen_at, tx_hash, place LIMIT $7",
        select::<TransferRow>(),
        places.join(", ")
    );
    q.all(&sql, &args).await
}

/// Which transfers are an account's and no payment: those to an address that was leased, and in these networks those to
/// a destination, unless they are what the merchant swept there.
fn nobodys(networks: &[&str], args: &mut Vec<Val>) -> String {
    let mut places = Vec::with_capacity(networks.len());
    for network in networks {
        args.push(Val::from(*network));
        places.push(format!("${}", args.len()));
    }
    let leased = "SELECT address FROM leases WHERE account = $1 AND mode = $2";
    format!(
        "payment IS NULL AND gone = 0 \
         AND recipient IN ({leased} UNION SELECT destination FROM destinations WHERE account = $1 AND mode = $2) \
         AND (reason IS NULL OR reason <> 'sweep') AND network IN ({})",
        places.join(", ")
    )
}

/// Those that were first seen at this moment or before, the newest first.
pub async fn unattributed_before(
    q: &mut impl Queries,
    scope: &till_core::scope::Scope,
    networks: &[&str],
    newest: i64,
    at_most: i64,
) -> Result<Vec<TransferRow>, StoreError> {
    let mut args: Vec<Val> = vals![&scope.account, scope.mode.as_str(), newest, at_most].into();
    let sql = format!(
        "{} WHERE {} AND first_seen_at <= $3 ORDER BY first_seen_at DESC, tx_hash, place LIMIT $4",
        select::<TransferRow>(),
        nobodys(networks, &mut args)
    );
    q.all(&sql, &args).await
}

/// Those that were first seen at this very moment.
pub async fn unattributed_at(
    q: &mut impl Queries,
    scope: &till_core::scope::Scope,
    networks: &[&str],
    seen_at: i64,
) -> Result<Vec<TransferRow>, StoreError> {
    let mut args: Vec<Val> = vals![&scope.account, scope.mode.as_str(), seen_at].into();
    let sql = format!(
        "{} WHERE {} AND first_seen_at = $3",
        select::<TransferRow>(),
        nobodys(networks, &mut args)
    );
    q.all(&sql, &args).await
}
