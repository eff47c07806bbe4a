//! What the books are asked about.

use till_core::asset::Registry;
use till_core::error::{Code, Refusal};
use till_core::reconciliation::Period;
use till_core::scope::Scope;
use till_store::ReadSource;

use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};

/// What a merchant asks the books about.
#[derive(Clone, Debug, Default)]
pub struct BooksRequest {
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub asset: Option<String>,
}

/// The same, with its defaults and checked.
pub(super) struct BooksQuery {
    pub(super) period: Period,
    asset: Option<&'static str>,
}

impl BooksQuery {
    pub(super) async fn of(
        engine: &Engine,
        reads: &ReadSource,
        scope: &Scope,
        asked: &BooksRequest,
    ) -> Result<BooksQuery, Fail> {
        let mut reader = reads.read();
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
        Ok(BooksQuery {
            period: Period::asked(asked.from, asked.to, now)?,
            asset,
        })
    }

    pub(super) fn is_about(&self, asset: &str) -> bool {
        self.asset.is_none_or(|only| only == asset)
    }
}
