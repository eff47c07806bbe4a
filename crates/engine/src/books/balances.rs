//! Balances: what each group of the ledger held when a period began and ended, and what moved it. Whole days come from
//! the journal's sums, and only the days that a period cuts through from its lines.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::ledger::Group;
use till_core::reconciliation::Totals;
use till_core::scope::Scope;
use till_core::time::{self, DAY_MS, day_of};
use till_store::{ReadSource, Reader};
use utoipa::ToSchema;

use super::amounts::{moved, shown};
use super::query::{BooksQuery, BooksRequest};
use crate::base::Engine;
use crate::base::fail::Fail;

/// How many rows are read at a time.
const ROWS_AT_ONCE: i64 = 5_000;

/// The ledger's balances over a period.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LedgerBalances)]
pub struct BalancesView {
    #[schema(example = "ledger_balances", pattern = "^ledger_balances$")]
    pub object: &'static str,
    #[schema(format = DateTime)]
    pub from: String,
    #[schema(format = DateTime)]
    pub to: String,
    pub balances: Vec<BalanceView>,
}

/// One asset in one group.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LedgerBalance)]
pub struct BalanceView {
    pub asset: String,
    /// `received`, `held`, `settled`, `overpaid`, `refundable`, `prepaid_credit`, `refunds_due` or `refunds_sent`.
    pub account: &'static str,
    /// Before `from`.
    pub opening: String,
    /// What moved it in the period.
    pub postings: String,
    /// Before `to`.
    pub closing: String,
    /// What moved it in the equally long period before.
    pub previous_period: String,
}

/// What the journal came to before some moment, by asset.
#[derive(Default)]
struct JournalBefore {
    at: i64,
    assets: BTreeMap<String, Totals>,
}

impl JournalBefore {
    fn of(&self, asset: &str, group: Group) -> i128 {
        self.assets.get(asset).map_or(0, |totals| totals.of(group))
    }
}

pub async fn balances(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    asked: &BooksRequest,
) -> Result<BalancesView, Fail> {
    let query = BooksQuery::of(engine, reads, scope, asked).await?;
    let period = query.period;
    let mut moments = [period.previous().from, period.from, period.to].map(|at| JournalBefore {
        at,
        ..JournalBefore::default()
    });
    let mut reader = reads.read();
    add_days(&mut reader, scope, &mut moments).await?;
    for moment in &mut moments {
        add_last_day(&mut reader, scope, moment).await?;
    }
    let [earlier, opening, closing] = moments;
    let rows = closing.assets.keys().filter(|asset| query.is_about(asset));
    let rows = rows.flat_map(|asset| {
        let row = |group| row(asset, group, [&earlier, &opening, &closing]);
        Group::ALL.map(row)
    });
    Ok(BalancesView {
        object: "ledger_balances",
        from: time::show(period.from),
        to: time::show(period.to),
        balances: rows.collect(),
    })
}

/// The days that ended before each moment.
async fn add_days(
    reader: &mut Reader,
    scope: &Scope,
    moments: &mut [JournalBefore; 3],
) -> Result<(), Fail> {
    let end = moments.iter().map(|moment| day_of(moment.at)).max();
    let mut last = None;
    loop {
        let rows = till_store::sums::before(
            reader,
            scope,
            end.unwrap_or_default(),
            last.as_ref(),
            ROWS_AT_ONCE,
        );
        let rows = rows.await?;
        for row in &rows {
            let after = moments
                .iter_mut()
                .filter(|moment| row.day < day_of(moment.at));
            for moment in after {
                let totals = moment.assets.entry(row.asset.clone()).or_default();
                totals.add(row.debit, row.credit, row.amount);
            }
        }
        match rows.into_iter().next_back() {
            None => return Ok(()),
            found => last = found,
        }
    }
}

/// What was posted on the moment's own day, before it.
async fn add_last_day(
    reader: &mut Reader,
    scope: &Scope,
    moment: &mut JournalBefore,
) -> Result<(), Fail> {
    let since = day_of(moment.at).saturating_mul(DAY_MS);
    let mut last = None;
    loop {
        let lines = till_store::journal::posted_between(
            reader,
            scope,
            (since, moment.at),
            last.as_ref(),
            ROWS_AT_ONCE,
        );
        let lines = lines.await?;
        for line in &lines {
            let (debit, credit, amount) = moved(line)?;
            let totals = moment.assets.entry(line.asset.clone()).or_default();
            totals.add(debit, credit, amount);
        }
        match lines.into_iter().next_back() {
            None => return Ok(()),
            found => last = found,
        }
    }
}

fn row(asset: &str, group: Group, moments: [&JournalBefore; 3]) -> BalanceView {
    let [earlier, opening, closing] = moments.map(|moment| moment.of(asset, group));
    BalanceView {
        asset: asset.to_owned(),
        account: group.as_str(),
        opening: shown(asset, opening),
        postings: shown(asset, closing - opening),
        closing: shown(asset, closing),
        previous_period: shown(asset, opening - earlier),
    }
}
