//! How deep a block must lie before it is final for an invoice: deeper for large ones, where an operator says so.

use std::collections::{BTreeSet, HashMap};

use till_core::payment::Level;
use till_store::Tx;
use till_store::invoices::InvoiceRow;

use super::observation::{Observation, Sighting, TransferOrigin};
use crate::base::Engine;
use crate::base::fail::Fail;

/// The last final blocks of the networks on which large invoices wait for more.
pub(super) struct FinalHeights<'e> {
    engine: &'e Engine,
    by_network: HashMap<String, i64>,
}

impl<'e> FinalHeights<'e> {
    pub(super) async fn read(
        tx: &mut Tx,
        engine: &'e Engine,
        observations: &[Observation],
    ) -> Result<FinalHeights<'e>, Fail> {
        let networks: BTreeSet<&str> = observations.iter().map(|it| &*it.network).collect();
        let mut by_network = HashMap::new();
        for network in networks {
            if engine.config.final_depths.contains_key(network)
                && let Some(row) = till_store::networks::find(tx, network).await?
                && let Some(height) = row.final_height
            {
                by_network.insert(network.to_owned(), height);
            }
        }
        Ok(FinalHeights { engine, by_network })
    }

    /// The observation as it is for an invoice whose price asks for more blocks than lie on it; none where enough do.
    pub(super) fn lowered(
        &self,
        invoice: &InvoiceRow,
        observation: &Observation,
    ) -> Option<Observation> {
        let last_final = self.by_network.get(&observation.network)?;
        let depths = self.engine.config.final_depths.get(&observation.network)?;
        let more = depths.more_for(invoice.amount_minor, invoice.currency);
        let Sighting::InBlock {
            level: Level::Final,
            number,
            hash,
            time,
        } = &observation.sighting
        else {
            return None;
        };
        let is_lowered = observation.source == TransferOrigin::Chain
            && number.saturating_add(more) > *last_final;
        is_lowered.then(|| Observation {
            sighting: Sighting::InBlock {
                level: Level::Safe,
                number: *number,
                hash: hash.clone(),
                time: *time,
            },
            ..observation.clone()
        })
    }
}
