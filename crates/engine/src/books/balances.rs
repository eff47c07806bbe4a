//! Balances: what each group of the ledger held when a period began and ended, and what moved it.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::ledger::Group;
use till_core::reconciliation::Totals;
use till_core::scope::Scope;
use till_core::time;
use utoipa::ToSchema;

use super::{Asked, Question, ROWS_AT_ONCE, moved, shown};
use crate::base::Engine;
use crate::base::fail::Fail;

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

#[derive(Default)]
struct Sums {
    opening: Totals,
    postings: Totals,
    previous: Totals,
}

pub async fn balances(engine: &Engine, scope: &Scope, asked: &Asked) -> Result<BalancesView, Fail> {
    let question = Question::of(engine, scope, asked).await?;
    let (period, previous) = (question.period, question.period.previous());
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    let mut reader = engine.db.read().await?;
    let mut last = None;
    loop {
        let at_most = ROWS_AT_ONCE * 10;
        let lines = till_store::journal::posted_before(
            &mut reader,
            scope,
            period.to,
            last.as_ref(),
            at_most,
        );
        let lines = lines.await?;
        for line in lines.iter().filter(|line| question.is_about(&line.asset)) {
            let (debit, credit, amount) = moved(line)?;
            let of_asset = sums.entry(line.asset.clone()).or_default();
            match period.has(line.created_at) {
                true => of_asset.postings.add(debit, credit, amount),
                false => of_asset.opening.add(debit, credit, amount),
            }
            if previous.has(line.created_at) {
                of_asset.previous.add(debit, credit, amount);
            }
        }
        match lines.into_iter().next_back() {
            None => break,
            found => last = found,
        }
    }
    let rows = sums.iter().flat_map(|(asset, sums)| rows(asset, sums));
    Ok(BalancesView {
        object: "ledger_balances",
        from: time::show(period.from),
        to: time::show(period.to),
        balances: rows.collect(),
    })
}

fn rows<'a>(asset: &'a str, sums: &'a Sums) -> impl Iterator<Item = BalanceView> + 'a {
    Group::ALL.into_iter().map(move |group| {
        let (opening, postings) = (sums.opening.of(group), sums.postings.of(group));
        BalanceView {
            asset: asset.to_owned(),
            account: group.as_str(),
            opening: shown(asset, opening),
            postings: shown(asset, postings),
            closing: shown(asset, opening + postings),
            previous_period: shown(asset, sums.previous.of(group)),
        }
    })
}
