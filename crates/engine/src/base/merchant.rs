//! What a merchant set.

use till_core::asset::Family;
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_store::Queries;
use till_store::accounts::MerchantRow;

use super::fail::Fail;

#[derive(Clone, Debug)]
pub struct Merchant {
    pub row: MerchantRow,
}

impl Merchant {
    pub async fn load(q: &mut impl Queries, scope: &Scope) -> Result<Merchant, Fail> {
        let row = till_store::accounts::merchant(q, scope)
            .await?
            .ok_or_else(not_configured)?;
        Ok(Merchant { row })
    }

    /// Business time of this account and mode, when it is `real_now`.
    pub fn now(&self, real_now: i64) -> i64 {
        real_now
            .saturating_add(self.row.clock_offset_ms)
            .min(till_core::time::LATEST_MS)
    }

    /// Who asks for money, as payers are told: the name that the merchant chose, or else the account's.
    pub fn shown_name(&self) -> &str {
        let chosen = self.row.display_name.as_deref();
        chosen.unwrap_or(&self.row.account_name)
    }

    pub fn destination(&self, family: Family) -> Option<&str> {
        self.row
            .destinations
            .get(family.namespace())
            .map(String::as_str)
    }
}

/// The account has nothing set up in this mode.
pub fn not_configured() -> Refusal {
    Refusal::of(Code::ModeNotConfigured)
}
