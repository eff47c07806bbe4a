//! `notices.detail`: what a refund's notice tells; never how to claim it.

use serde::{Deserialize, Serialize};

use super::json_column::stored;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundDetail {
    /// Whole tokens.
    pub amount: String,
    pub asset: String,
    pub created_at: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredDetail {
    refunded: StoredAmount,
    created_at: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredAmount {
    amount: String,
    asset: String,
}

impl From<StoredDetail> for RefundDetail {
    fn from(stored: StoredDetail) -> RefundDetail {
        RefundDetail {
            amount: stored.refunded.amount,
            asset: stored.refunded.asset,
            created_at: stored.created_at,
        }
    }
}

impl From<&RefundDetail> for StoredDetail {
    fn from(detail: &RefundDetail) -> StoredDetail {
        StoredDetail {
            refunded: StoredAmount {
                amount: detail.amount.clone(),
                asset: detail.asset.clone(),
            },
            created_at: detail.created_at,
        }
    }
}

stored!(RefundDetail as StoredDetail);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::golden;

    #[test]
    fn every_form_ever_written_is_read() {
        let detail = RefundDetail {
            amount: "3.00".to_owned(),
            asset: "USDC@eip155:84532".to_owned(),
            created_at: 1_794_712_419_123,
        };
        golden::check::<StoredDetail, _>(
            include_str!("../../golden/notices.detail.jsonl"),
            &detail,
        );
    }
}
