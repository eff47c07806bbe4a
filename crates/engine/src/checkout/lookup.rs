//! What became of a transaction that somebody asks about. For information: looking never credits, and writes
//! nothing.

use serde::Serialize;
use till_chains::TxHashForm;
use till_chains::lookup::{FoundTransfer, can_look_up};
use till_core::asset::{Mode, Network, Registry};
use till_core::invoice::PayOption;
use till_core::money::show;
use till_core::page::Page;
use till_core::scope::Scope;
use till_store::bindings::BindingRow;
use till_store::payments::{PaymentFilter, PaymentRow};
use utoipa::ToSchema;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::invoices;

/// A transaction may have thousands of transfers; those to this invoice are shown first.
const TRANSFERS_MAX: u32 = 100;

/// A transfer inside a transaction that was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LookedUpTransfer {
    pub asset: String,
    pub amount: String,
    pub to: String,
    pub attributed: bool,
    /// Why it is not attributed to this invoice; null when it is. One of `not_for_this_invoice`,
    /// `not_in_the_chain_any_more`, `not_observed_yet` (it is for this invoice, but we have not seen it
    /// ourselves), `asset_not_offered`.
    #[schema(required)]
    pub reason: Option<&'static str>,
}

/// What is known of a transaction. For information: looking never credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TxLookup)]
pub struct LookupView {
    #[schema(example = "tx_lookup", pattern = "^tx_lookup$")]
    pub object: &'static str,
    pub tx_hash: String,
    pub found: bool,
    #[schema(required)]
    pub network: Option<String>,
    pub transfers: Vec<LookedUpTransfer>,
    pub attributed: bool,
}

/// Answers from our own observations, else from the nodes of the networks that may know the transaction.
pub async fn lookup(
    engine: &Engine,
    scope: &Scope,
    invoice: &str,
    hash: &TxHashForm,
) -> Result<LookupView, Fail> {
    let (options, bindings) = {
        let mut reader = engine.db.read().await?;
        let row = invoices::find(&mut reader, scope, invoice).await?;
        let filter = PaymentFilter {
            tx_hash: Some(hash.as_str().to_owned()),
            ..PaymentFilter::default()
        };
        let page = Page {
            limit: TRANSFERS_MAX,
            before: None,
        };
        let rows = till_store::payments::list(&mut reader, scope, filter, &page).await?;
        if !rows.is_empty() {
            return Ok(observed(hash, invoice, &rows));
        }
        let bindings = till_store::bindings::of_invoice(&mut reader, scope, invoice).await?;
        // The reader goes back before anybody outside is waited for.
        (row.options, bindings)
    };
    let found = match &engine.nodes {
        Some(nodes) => {
            nodes
                .look_up(&asked(scope.mode, &options, hash), hash)
                .await
        }
        None => None,
    };
    Ok(match found {
        Some((network, moved)) => told(hash, network, moved, &options, &bindings),
        None => unknown(hash),
    })
}

fn unknown(hash: &TxHashForm) -> LookupView {
    LookupView {
        object: "tx_lookup",
        tx_hash: hash.as_str().to_owned(),
        found: false,
        network: None,
        transfers: Vec::new(),
        attributed: false,
    }
}

fn observed(hash: &TxHashForm, invoice: &str, rows: &[PaymentRow]) -> LookupView {
    let transfer = |row: &PaymentRow| {
        let decimals = Registry::builtin()
            .asset(&row.asset)
            .map_or(0, |asset| asset.decimals);
        let ours = row.invoice == invoice;
        LookedUpTransfer {
            asset: row.asset.clone(),
            amount: show(row.units, decimals),
            to: row.recipient.clone(),
            attributed: ours && row.gone_at.is_none(),
            reason: match (ours, row.gone_at.is_some()) {
                (true, false) => None,
                (true, true) => Some("not_in_the_chain_any_more"),
                (false, _) => Some("not_for_this_invoice"),
            },
        }
    };
    let transfers: Vec<LookedUpTransfer> = rows.iter().map(transfer).collect();
    LookupView {
        found: true,
        network: rows.first().map(|row| row.network.clone()),
        attributed: transfers.iter().any(|transfer| transfer.attributed),
        transfers,
        ..unknown(hash)
    }
}

/// The networks that the invoice offers. Where none of them has transactions with such a hash, all of the mode that have: whoever
/// sent on a network that was not offered learns where the money went.
fn asked(mode: Mode, options: &[PayOption], hash: &TxHashForm) -> Vec<&'static Network> {
    let offered = offered(options);
    if offered.iter().any(|network| can_look_up(network, hash)) {
        return offered;
    }
    let all = Registry::builtin().networks().iter();
    all.filter(|network| network.mode == mode).collect()
}

/// The networks of an invoice's options, in the order they are offered.
fn offered(options: &[PayOption]) -> Vec<&'static Network> {
    let registry = Registry::builtin();
    let mut networks: Vec<&Network> = Vec::new();
    for option in options {
        let network = registry
            .asset(&option.asset)
            .and_then(|asset| registry.network(&asset.network));
        if let Some(network) = network.filter(|new| networks.iter().all(|known| known.id != new.id))
        {
            networks.push(network);
        }
    }
    networks
}

/// What a node said. Nothing of it is attributed: attribution follows our own observation alone.
fn told(
    hash: &TxHashForm,
    network: &Network,
    moved: Vec<FoundTransfer>,
    options: &[PayOption],
    bindings: &[BindingRow],
) -> LookupView {
    let mut transfers = Vec::with_capacity(moved.len());
    for moved in moved {
        transfers.push(LookedUpTransfer {
            asset: moved.asset.code.clone(),
            amount: show(moved.units, moved.asset.decimals),
            reason: Some(reason(&moved, options, bindings)),
            to: moved.recipient,
            attributed: false,
        });
    }
    transfers.sort_by_key(|transfer| transfer.reason == Some("not_for_this_invoice"));
    transfers.truncate(TRANSFERS_MAX as usize);
    LookupView {
        found: true,
        network: Some(network.id.clone()),
        transfers,
        ..unknown(hash)
    }
}

fn reason(moved: &FoundTransfer, options: &[PayOption], bindings: &[BindingRow]) -> &'static str {
    for binding in bindings {
        let fits = binding.asset == moved.asset.code
            && binding.destination == moved.recipient
            && moved.senders == [binding.sender.as_str()]
            && binding.units == moved.units;
        if fits {
            return "not_observed_yet";
        }
    }
    let to_deposit = options
        .iter()
        .filter_map(|option| option.deposit.as_ref())
        .any(|deposit| deposit.address == moved.recipient);
    let offered = options
        .iter()
        .any(|option| option.asset == moved.asset.code);
    match (to_deposit, offered) {
        (true, true) => "not_observed_yet",
        (true, false) => "asset_not_offered",
        (false, _) => "not_for_this_invoice",
    }
}
