//! Payment links. Units are reserved by updates that carry the limit in their own WHERE.

use std::collections::BTreeMap;

use till_core::link::{AmountType, LinkState};
use till_core::money::Currency;
use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, select, table};
use crate::{Metadata, Page, Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct LinkRow in "payment_links" by id {
        id: String,
        slug: String,
        amount_type: AmountType,
        currency: Currency,
        amount: Option<String>,
        min_amount: Option<String>,
        max_amount: Option<String>,
        description: Option<String>,
        assets: Option<Vec<String>>,
        quantity_limit: Option<i64>,
        quantity_used: i64,
        quantity_reserved: i64,
        expires_at: Option<i64>,
        /// Where payers go afterwards; `{invoice}` stands for the id.
        return_url: Option<String>,
        metadata: Metadata,
        active: bool,
        created_at: i64,
    }
}

/// What the merchant may change; the counts are moved by their own updates.
const CHANGING: &[&str] = &[
    "amount_type",
    "currency",
    "amount",
    "min_amount",
    "max_amount",
    "description",
    "assets",
    "quantity_limit",
    "expires_at",
    "return_url",
    "metadata",
    "active",
];

impl LinkRow {
    pub fn state(&self) -> LinkState {
        LinkState {
            active: self.active,
            expires_at: self.expires_at,
            limit: self.quantity_limit,
            used: self.quantity_used,
            reserved: self.quantity_reserved,
        }
    }
}

pub async fn insert(tx: &mut Tx, link: &LinkRow) -> Result<(), StoreError> {
    tx.write(&Write::records([link])).await.map(drop)
}

pub async fn update(tx: &mut Tx, link: &LinkRow) -> Result<(), StoreError> {
    let update = Write::update_records(&["account", "mode", "id"], CHANGING, [link])?;
    tx.write(&update).await.map(drop)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<LinkRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<LinkRow>()
    );
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

pub async fn lock(tx: &mut Tx, scope: &Scope, id: &str) -> Result<Option<LinkRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3{}",
        select::<LinkRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

pub async fn by_slug(
    q: &mut impl Queries,
    scope: &Scope,
    slug: &str,
) -> Result<Option<LinkRow>, StoreError> {
    let sql = format!(
        "{} WHERE slug = $3 AND account = $1 AND mode = $2",
        select::<LinkRow>()
    );
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), slug])
        .await
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    active: Option<bool>,
    page: &Page,
) -> Result<Vec<LinkRow>, StoreError> {
    newest_first(q, scope, [Filter::on("active", active)], page).await
}

/// Takes one unit for a new invoice. False when the link has none left or too many are held already.
pub async fn reserve(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    reserved_max: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE payment_links SET quantity_reserved = quantity_reserved + 1 \
         WHERE account = $1 AND mode = $2 AND id = $3 AND quantity_reserved < $4 \
         AND (quantity_limit IS NULL OR quantity_used + quantity_reserved < quantity_limit)";
    Ok(tx
        .run(
            sql,
            &vals![&*scope.account, scope.mode.as_str(), id, reserved_max],
        )
        .await?
        == 1)
}

/// Counts one more open invoice across the account's links. False when there are too many.
pub async fn open_one(tx: &mut Tx, scope: &Scope, open_max: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE merchants SET open_link_invoices = open_link_invoices + 1 \
         WHERE account = $1 AND mode = $2 AND open_link_invoices < $3";
    Ok(tx
        .run(sql, &vals![&*scope.account, scope.mode.as_str(), open_max])
        .await?
        == 1)
}

/// How many units of the link the client's invoices hold. Whoever asks holds the link, so that nobody adds to them.
pub async fn held_by_client(
    tx: &mut Tx,
    scope: &Scope,
    link: &str,
    client: &str,
) -> Result<i64, StoreError> {
    let args = vals![&*scope.account, scope.mode.as_str(), link, client];
    let forget = "DELETE FROM link_openings WHERE account = $1 AND mode = $2 AND link = $3 AND client = $4 \
         AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.account = link_openings.account \
         AND i.mode = link_openings.mode AND i.id = link_openings.invoice AND i.link_unit = 'reserved') \
         AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.account = link_openings.account AND l.mode = link_openings.mode \
         AND l.family = 'bip122' AND l.invoice = link_openings.invoice AND l.freed = 0)";
    tx.run(forget, &args).await?;
    let count = "SELECT COUNT(*) FROM link_openings o \
         JOIN invoices i ON i.account = o.account AND i.mode = o.mode AND i.id = o.invoice \
         WHERE o.account = $1 AND o.mode = $2 AND o.link = $3 AND o.client = $4 AND i.link_unit = 'reserved'";
    let counted: Option<(i64,)> = tx.one(count, &args).await?;
    Ok(counted.map_or(0, |(held,)| held))
}

/// An unpaid invoice that a client has open at a link.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct OpeningRow {
    pub link: String,
    pub client: String,
    pub invoice: String,
    picked: i64,
}

impl OpeningRow {
    /// Whether its payer has picked a network.
    pub fn is_picked(&self) -> bool {
        self.picked != 0
    }
}

/// What clients have open at one link, or at all links of the account, the oldest first.
pub async fn open_at(
    q: &mut impl Queries,
    scope: &Scope,
    link: Option<&str>,
) -> Result<Vec<OpeningRow>, StoreError> {
    let of_link = match link {
        Some(_) => " AND o.link = $3",
        None => "",
    };
    let sql = format!(
        "SELECT o.link, o.client, o.invoice, o.picked FROM link_openings o \
         JOIN invoices i ON i.account = o.account AND i.mode = o.mode AND i.id = o.invoice \
         WHERE o.account = $1 AND o.mode = $2 AND i.link_unit = 'reserved'{of_link} ORDER BY o.invoice"
    );
    let mut args = Vec::from(vals![&*scope.account, scope.mode.as_str()]);
    args.extend(link.map(Val::from));
    q.all(&sql, &args).await
}

/// Whose invoice it is; none where the merchant made it.
pub async fn opening_of(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Option<OpeningRow>, StoreError> {
    let sql = "SELECT link, client, invoice, picked FROM link_openings \
         WHERE invoice = $3 AND account = $1 AND mode = $2";
    q.one(sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
}

pub async fn mark_picked(tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<(), StoreError> {
    let sql =
        "UPDATE link_openings SET picked = 1 WHERE invoice = $3 AND account = $1 AND mode = $2";
    let args = vals![&*scope.account, scope.mode.as_str(), invoice];
    tx.run(sql, &args).await.map(drop)
}

/// How many of the client's invoices have a Bitcoin address that is theirs, or cools down after them, unpaid.
pub async fn bitcoin_addresses_of(
    q: &mut impl Queries,
    scope: &Scope,
    client: &str,
    now: i64,
) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM leases l \
         JOIN link_openings o ON o.invoice = l.invoice AND o.account = l.account AND o.mode = l.mode \
         JOIN invoices i ON i.account = l.account AND i.mode = l.mode AND i.id = l.invoice \
         WHERE l.account = $1 AND l.mode = $2 AND l.family = 'bip122' AND l.freed = 0 \
         AND (l.free_at IS NULL OR l.free_at > $4) AND o.client = $3 AND i.link_unit <> 'used'";
    let args = vals![&*scope.account, scope.mode.as_str(), client, now];
    let counted: Option<(i64,)> = q.one(sql, &args).await?;
    Ok(counted.map_or(0, |(held,)| held))
}

/// The same over all links of the account. What is not held any more and not forgotten yet does not count.
pub async fn held_at_all_links(
    tx: &mut Tx,
    scope: &Scope,
    client: &str,
) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM link_openings o \
         JOIN invoices i ON i.account = o.account AND i.mode = o.mode AND i.id = o.invoice \
         WHERE o.account = $1 AND o.mode = $2 AND o.client = $3 AND i.link_unit = 'reserved'";
    let args = vals![&*scope.account, scope.mode.as_str(), client];
    let counted: Option<(i64,)> = tx.one(sql, &args).await?;
    Ok(counted.map_or(0, |(held,)| held))
}

/// Remembers whose invoice it is.
pub async fn opened_by(
    tx: &mut Tx,
    scope: &Scope,
    link: &str,
    client: &str,
    invoice: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO link_openings (account, mode, link, client, invoice) VALUES ($1, $2, $3, $4, $5)";
    let args = vals![&*scope.account, scope.mode.as_str(), link, client, invoice];
    touched(tx.run(sql, &args).await?, 1, "link_openings")
}

/// How the counts of a link move as its invoices' statuses do.
#[derive(Clone, Debug)]
pub struct UnitMove {
    pub scope: Scope,
    pub link: String,
    pub used: i64,
    pub reserved: i64,
}

/// One move for each link. What is reserved counts for the account, too.
pub fn unit_moves(moves: &[UnitMove]) -> Vec<Write> {
    let links = moves
        .iter()
        .map(|unit| {
            let (account, mode) = (&unit.scope.account, unit.scope.mode.as_str());
            vals![account, mode, &unit.link, unit.used, unit.reserved].into()
        })
        .collect();
    let mut open: BTreeMap<(&str, &'static str), i64> = BTreeMap::new();
    for unit in moves {
        let account = (&*unit.scope.account, unit.scope.mode.as_str());
        *open.entry(account).or_default() += unit.reserved;
    }
    let accounts = open
        .into_iter()
        .filter(|(_, reserved)| *reserved != 0)
        .map(|((account, mode), reserved)| vals![account, mode, reserved].into())
        .collect();
    let counts = ["quantity_used", "quantity_reserved"];
    vec![
        Write::update("payment_links", &["account", "mode", "id"], &[], links).adding(&counts),
        Write::update("merchants", &["account", "mode"], &[], accounts)
            .adding(&["open_link_invoices"]),
    ]
}
