//! Leases follow the invoice.

use till_core::asset::{Family, Registry};
use till_store::Tx;

use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::facts::Held;

/// A closed invoice's addresses begin to cool down; one that opens again takes them back.
pub async fn follow(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &Held,
    was_closed: bool,
    is_closed: bool,
) -> Result<(), Fail> {
    let mut families: Vec<(Family, u64)> = Vec::new();
    for option in &held.terms.options {
        let family = Registry::builtin()
            .asset(&option.asset)
            .map(|asset| asset.family);
        if let (Some(family), Some(deposit)) = (family, &option.deposit)
            && !families.iter().any(|(known, _)| *known == family)
        {
            families.push((family, deposit.number));
        }
    }
    let paid_now = |family: Family| {
        held.payments.iter().any(|payment| {
            let network = Registry::builtin().network(&payment.row.network);
            payment.was.is_none() && network.is_some_and(|network| network.family == family)
        })
    };
    for (family, number) in families {
        let number = i64::try_from(number).map_err(Fail::broken)?;
        if was_closed != is_closed {
            let free_at = is_closed.then(|| {
                context
                    .now
                    .saturating_add(context.engine.config.cooldown_ms)
            });
            let invoice = held.row.id.as_str();
            till_store::leases::set_free_at(tx, &context.scope, family, number, invoice, free_at)
                .await?;
        }
        if family == Family::Bitcoin && paid_now(family) {
            till_store::leases::note_paid(tx, &context.scope, family, number).await?;
        }
    }
    Ok(())
}
