//! Whose transfers are: by the address they went to, or else by who sent exactly how much to a merchant's own destination.

use std::collections::{BTreeSet, HashMap, HashSet};

use till_core::asset::{Family, Mode, Registry};
use till_core::attribution::{Binding, CLOCK_SLACK_MS, Fit, Lease, by_binding, by_lease};
use till_core::money::Units;
use till_core::payment::AttributedBy;
use till_core::scope::Scope;
use till_store::Tx;
use till_store::bindings::BindingRow;
use till_store::leases::LeaseRow;

use super::observation::{Observation, Sighting, TransferOrigin};
use crate::base::fail::Fail;
use crate::base::{Context, Effects, Engine};

/// What a transfer was recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    DepositAddress,
    WalletBinding { suffix: Units },
}

impl By {
    pub(super) fn name(self) -> AttributedBy {
        match self {
            By::DepositAddress => AttributedBy::DepositAddress,
            By::WalletBinding { .. } => AttributedBy::WalletBinding,
        }
    }

    pub(super) fn suffix(self) -> Units {
        match self {
            By::DepositAddress => Units::ZERO,
            By::WalletBinding { suffix } => suffix,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Attribution {
    pub(super) scope: Scope,
    pub(super) invoice: String,
    pub(super) by: By,
    /// When we first knew of the transfer, in the account's business time.
    pub(super) first_seen_at: i64,
}

/// Why a transfer is nobody's payment; kept with it for reconciliation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    NoLease,
    /// Two invoices fit equally well.
    Ambiguous,
    /// A merchant empties one of its deposit addresses: that is no payment, whoever gets it.
    Sweep,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NoLease => "no_lease",
            Reason::Ambiguous => "ambiguous",
            Reason::Sweep => "sweep",
        }
    }
}

/// The accounts that a batch may concern, each in its own time.
pub(super) type Contexts<'e> = HashMap<Scope, Context<'e>>;

/// Everything that deciding about a batch of transfers needs, read in a few statements.
pub(super) struct AttributionFacts {
    leases: HashMap<String, Vec<LeaseRow>>,
    bindings: HashMap<BindingKey, Vec<BindingRow>>,
    /// When those that are known were first seen, in real time: mined again, a transfer may stand at another place.
    first_seen: HashMap<TransferKey, i64>,
}

/// Network and transaction; senders, recipient, asset and units.
type TransferKey = ((String, String), (Vec<String>, String, String, Units));

/// Destination, sender, asset, units.
type BindingKey = (String, String, String, Units);

/// None for what several sent: a wallet is one of them.
fn binding_key(observation: &Observation) -> Option<BindingKey> {
    let [sender] = &observation.senders[..] else {
        return None;
    };
    Some((
        observation.recipient.clone(),
        sender.clone(),
        observation.asset.clone(),
        observation.units,
    ))
}

impl AttributionFacts {
    pub(super) async fn read(
        tx: &mut Tx,
        observations: &[&Observation],
    ) -> Result<AttributionFacts, Fail> {
        let senders = observations.iter().flat_map(|it| &it.senders);
        let mut addresses: Vec<&str> = observations.iter().map(|it| &*it.recipient).collect();
        addresses.extend(senders.map(String::as_str));
        addresses.sort_unstable();
        addresses.dedup();
        let mut leases: HashMap<String, Vec<LeaseRow>> = HashMap::new();
        for lease in till_store::leases::of_addresses(tx, &addresses).await? {
            leases.entry(lease.address.clone()).or_default().push(lease);
        }
        let keys: HashSet<BindingKey> = observations
            .iter()
            .copied()
            .filter_map(binding_key)
            .collect();
        let keys: Vec<BindingKey> = keys.into_iter().collect();
        let mut bindings: HashMap<BindingKey, Vec<BindingRow>> = HashMap::new();
        for row in till_store::bindings::fitting_many(tx, &keys).await? {
            let key = (
                row.destination.clone(),
                row.sender.clone(),
                row.asset.clone(),
                row.units,
            );
            bindings.entry(key).or_default().push(row);
        }
        let transactions: BTreeSet<(&str, &str)> = observations
            .iter()
            .map(|it| (&*it.network, &*it.tx_hash))
            .collect();
        let transactions: Vec<(&str, &str)> = transactions.into_iter().collect();
        let mut first_seen: HashMap<TransferKey, i64> = HashMap::new();
        for fact in till_store::transfers::of_transactions(tx, &transactions).await? {
            let transaction = (fact.network, fact.tx_hash);
            let moved = (fact.senders, fact.recipient, fact.asset, fact.units);
            let seen = first_seen.entry((transaction, moved));
            let seen = seen.or_insert(fact.first_seen_at);
            *seen = fact.first_seen_at.min(*seen);
        }
        Ok(AttributionFacts {
            leases,
            bindings,
            first_seen,
        })
    }

    /// When we first knew of a transfer, in an account's business time.
    fn first_seen_at(&self, context: &Context<'_>, observation: &Observation) -> i64 {
        let transaction = (observation.network.clone(), observation.tx_hash.clone());
        let moved = (
            observation.senders.clone(),
            observation.recipient.clone(),
            observation.asset.clone(),
            observation.units,
        );
        let seen = self.first_seen.get(&(transaction, moved));
        seen.map_or(context.now, |seen| {
            context.merchant.now(*seen).min(context.now)
        })
    }

    /// When a transfer was made, in an account's business time. A block's time is real: where a test clock was moved,
    /// the business time at which the transfer was first seen stands for it.
    fn made_at(&self, context: &Context<'_>, observation: &Observation) -> i64 {
        let is_moved = observation.source == TransferOrigin::Chain
            && context.merchant.row.clock_offset_ms != 0;
        match &observation.sighting {
            Sighting::InBlock { time, .. } if !is_moved => (*time).min(context.now),
            _ => self.first_seen_at(context, observation),
        }
    }

    /// The accounts that any of it leads to.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        let leases = self.leases.values().flatten().map(|lease| &lease.scope);
        let bindings = self.bindings.values().flatten().map(|row| &row.scope);
        leases.chain(bindings)
    }

    fn leases_of(&self, address: &str, family: Family) -> Vec<&LeaseRow> {
        let all = self.leases.get(address).into_iter().flatten();
        all.filter(|lease| lease.family == family).collect()
    }

    pub(super) fn attribute(
        &self,
        contexts: &Contexts<'_>,
        observation: &Observation,
    ) -> Result<Attribution, Reason> {
        let network = Registry::builtin()
            .network(&observation.network)
            .ok_or(Reason::NoLease)?;
        let is_ours = |address: &String| !self.leases_of(address, network.family).is_empty();
        if observation.senders.iter().any(is_ours) {
            return Err(Reason::Sweep);
        }
        let mut leases = self.leases_of(&observation.recipient, network.family);
        leases.retain(|lease| lease.scope.mode == network.mode);
        if let Some(owner) = leases.first().map(|lease| lease.scope.clone()) {
            // An address is one account's: it is derived from that account's id, or from a key that only it has.
            leases.retain(|lease| lease.scope == owner);
            let context = contexts.get(&owner).ok_or(Reason::NoLease)?;
            let at = self.made_at(context, observation);
            let tenures: Vec<Lease> = leases
                .iter()
                .map(|lease| Lease {
                    leased_at: lease.leased_at,
                    free_at: lease.free_at,
                })
                .collect();
            let slack_ms = network.clock_slack_ms.unwrap_or(CLOCK_SLACK_MS);
            let index = by_lease(&tenures, at, slack_ms).ok_or(Reason::NoLease)?;
            return Ok(Attribution {
                scope: owner,
                invoice: leases[index].invoice.clone(),
                by: By::DepositAddress,
                first_seen_at: self.first_seen_at(context, observation),
            });
        }
        self.by_binding(contexts, observation, network.mode)
    }

    /// Two accounts may share a destination, each in its own time: when both have a binding that fits alike, it is neither's.
    fn by_binding(
        &self,
        contexts: &Contexts<'_>,
        observation: &Observation,
        mode: Mode,
    ) -> Result<Attribution, Reason> {
        let key = binding_key(observation).ok_or(Reason::NoLease)?;
        let rows = self.bindings.get(&key).into_iter().flatten();
        let mut of_accounts: HashMap<&Scope, Vec<&BindingRow>> = HashMap::new();
        for row in rows.filter(|row| row.scope.mode == mode) {
            of_accounts.entry(&row.scope).or_default().push(row);
        }
        let fitting = of_accounts
            .into_iter()
            .filter_map(|(scope, rows)| self.fitting(contexts.get(scope)?, &rows, observation));
        let fitting: Vec<(Fit, Option<&BindingRow>)> = fitting.collect();
        // One that holds the amount goes before those that once did, whoever's they are.
        let best = fitting.iter().map(|it| it.0).min().ok_or(Reason::NoLease)?;
        let mut alike = fitting.iter().filter(|it| it.0 == best);
        let row = match (alike.next(), alike.next()) {
            (Some((_, Some(row))), None) => *row,
            _ => return Err(Reason::Ambiguous),
        };
        let context = contexts.get(&row.scope).ok_or(Reason::NoLease)?;
        Ok(Attribution {
            scope: row.scope.clone(),
            invoice: row.invoice.clone(),
            by: By::WalletBinding { suffix: row.suffix },
            first_seen_at: self.first_seen_at(context, observation),
        })
    }

    /// The account's binding that fits best, and how well; none where two invoices fit alike.
    fn fitting<'r>(
        &self,
        context: &Context<'_>,
        rows: &[&'r BindingRow],
        observation: &Observation,
    ) -> Option<(Fit, Option<&'r BindingRow>)> {
        let bindings: Vec<Binding<'_>> = rows
            .iter()
            .map(|row| Binding {
                invoice: &row.invoice,
                created_at: row.created_at,
                expires_at: row.expires_at,
                closed_at: row.closed_at,
                replaced_at: row.replaced_at,
            })
            .collect();
        let at = self.made_at(context, observation);
        let first_seen_at = self.first_seen_at(context, observation);
        let bound = by_binding(&bindings, at, first_seen_at)?;
        Some((bound.fit, bound.index.map(|index| rows[index])))
    }
}

/// Loads the accounts that are not there yet. One that is gone concerns nobody.
pub(super) async fn load_contexts<'e>(
    tx: &mut Tx,
    engine: &'e Engine,
    effects: &'e Effects,
    scopes: impl Iterator<Item = &Scope>,
    contexts: &mut Contexts<'e>,
) -> Result<(), Fail> {
    let mut wanted: Vec<&Scope> = scopes
        .filter(|scope| !contexts.contains_key(scope))
        .collect();
    wanted.sort_by(|a, b| (&a.account, a.mode.as_str()).cmp(&(&b.account, b.mode.as_str())));
    wanted.dedup();
    contexts.extend(Context::load_many(engine, tx, &wanted, effects).await?);
    Ok(())
}
