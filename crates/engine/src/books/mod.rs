//! The books: what was posted, what arrived and what invoices show, held against each other. Reads only, some rows at
//! a time.

mod ahead;
mod balances;
mod csv;
mod pieces;
mod report;
mod sent;
mod signed;
mod views;

pub use balances::{BalanceView, BalancesView, balances};
pub use pieces::{Form, Pieces};
pub use report::Walk;
pub use views::{AssetView, DiscrepancyView, Figure, ReportView};

use till_core::asset::Registry;
use till_core::error::{Code, Refusal};
use till_core::ledger::Group;
use till_core::money::{Units, show_signed};
use till_core::reconciliation::Period;
use till_core::scope::Scope;
use till_store::journal::PostedLine;

use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};

/// What a merchant asks the books about.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub asset: Option<String>,
}

/// The same, with its defaults and checked.
struct Question {
    period: Period,
    asset: Option<&'static str>,
}

impl Question {
    async fn of(engine: &Engine, scope: &Scope, asked: &Asked) -> Result<Question, Fail> {
        let mut reader = engine.db.read().await?;
        let merchant = Merchant::load(&mut reader, scope).await?;
        let now = merchant.now(engine.clock.now_ms());
        let asset = match &asked.asset {
            None => None,
            Some(code) => {
                let asset = Registry::builtin().asset(code);
                let asset = asset.filter(|asset| asset.mode == scope.mode);
                let message = "asset must be the code of an asset of this mode";
                let unknown = || Refusal::new(Code::ParameterInvalid, message).param("asset");
                Some(asset.ok_or_else(unknown)?.code.as_str())
            }
        };
        Ok(Question {
            period: Period::asked(asked.from, asked.to, now)?,
            asset,
        })
    }

    fn is_about(&self, asset: &str) -> bool {
        self.asset.is_none_or(|only| only == asset)
    }
}

/// Whole tokens; an asset the registry has lost shows its base units.
fn shown(asset: &str, units: i128) -> String {
    let asset = Registry::builtin().asset(asset);
    show_signed(units, asset.map_or(0, |asset| asset.decimals))
}

/// A line's groups and amount, in the domain's types.
fn moved(line: &PostedLine) -> Result<(Group, Group, Units), Fail> {
    let wrong = || Fail::broken(format!("journal entry {} cannot be read", line.entry));
    let group = |text: &str| Group::parse(text).ok_or_else(wrong);
    let amount: u128 = line.amount.parse().map_err(|_| wrong())?;
    Ok((group(&line.debit)?, group(&line.credit)?, Units(amount)))
}

fn wide(units: Units) -> i128 {
    i128::try_from(units.0).unwrap_or(i128::MAX)
}
