//! A report in pieces, as JSON or as a table: what was found is sent on at once, and the sums come last.

use std::sync::Arc;

use till_core::scope::Scope;
use till_core::time;
use till_store::ReadSource;

use super::csv;
use super::query::BooksRequest;
use super::report::Walk;
use super::views::DiscrepancyView;
use crate::base::Engine;
use crate::base::fail::Fail;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    Csv,
}

enum Stage {
    Head,
    Middle { any: bool },
    Done,
}

pub struct Pieces {
    walk: Walk,
    form: Form,
    stage: Stage,
}

impl Pieces {
    pub async fn of(
        engine: &Arc<Engine>,
        reads: &ReadSource,
        scope: &Scope,
        asked: &BooksRequest,
        form: Form,
    ) -> Result<Pieces, Fail> {
        Ok(Pieces {
            walk: Walk::begin(engine, reads, scope, asked).await?,
            form,
            stage: Stage::Head,
        })
    }

    /// The next piece; none after the last.
    pub async fn next(&mut self) -> Result<Option<String>, Fail> {
        match self.stage {
            Stage::Head => {
                self.stage = Stage::Middle { any: false };
                Ok(Some(self.head()))
            }
            Stage::Middle { any } => match self.walk.next().await? {
                None => {
                    self.stage = Stage::Done;
                    self.tail().map(Some)
                }
                Some(found) => {
                    let any_now = any || !found.is_empty();
                    self.stage = Stage::Middle { any: any_now };
                    self.middle(&found, any).map(Some)
                }
            },
            Stage::Done => Ok(None),
        }
    }

    fn head(&self) -> String {
        let period = self.walk.period();
        let (from, to) = (time::show(period.from), time::show(period.to));
        match self.form {
            Form::Json => format!(
                r#"{{"object":"reconciliation","from":"{from}","to":"{to}","discrepancies":["#
            ),
            Form::Csv => csv::head(),
        }
    }

    fn middle(&self, found: &[DiscrepancyView], any_before: bool) -> Result<String, Fail> {
        match self.form {
            Form::Csv => Ok(found.iter().map(csv::discrepancy).collect()),
            Form::Json => {
                let mut text = String::new();
                for (index, one) in found.iter().enumerate() {
                    if any_before || index > 0 {
                        text.push(',');
                    }
                    text.push_str(&serde_json::to_string(one).map_err(Fail::broken)?);
                }
                Ok(text)
            }
        }
    }

    fn tail(&self) -> Result<String, Fail> {
        match self.form {
            Form::Csv => Ok(self
                .walk
                .assets()
                .map(|asset| csv::figures(&asset))
                .collect()),
            Form::Json => {
                let assets: Vec<_> = self.walk.assets().collect();
                let assets = serde_json::to_string(&assets).map_err(Fail::broken)?;
                Ok(format!(r#"],"assets":{assets}}}"#))
            }
        }
    }
}
