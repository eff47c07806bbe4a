//! What the server must hold, kept beside it: merchants, invoices, transfers as they were observed, leases,
//! events and idempotency keys. It follows each step by the contract alone.

use std::collections::{BTreeMap, BTreeSet};

use till_core::asset::{Family, Registry};
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::intake::{Observation, Sighting, TransferOrigin};

use crate::chain::TransferId;
use crate::expect::{Expected, Part, Seen, Terms, expect, is_paid, verdicts};
use crate::net::Net;

pub const COOLDOWN_MS: i64 = 20 * 60_000;
pub const UNPAID_COOLDOWN_MS: i64 = 8 * 60_000;
/// How far a block's clock may be behind ours.
const SLACK_MS: i64 = 120_000;
/// On Bitcoin, where a miner may write any time after the middle of the last eleven blocks.
const BITCOIN_SLACK_MS: i64 = 2 * 3_600_000;
pub const KEPT_MS: i64 = 30 * 24 * 3_600_000;

#[derive(Clone, Debug)]
pub struct Ev {
    pub kind: String,
    pub seq: Option<i64>,
    /// There was somewhere to send it.
    pub hooked: bool,
    /// How often the merchant asked to have it sent again.
    pub replays: i64,
}

#[derive(Clone, Debug)]
pub struct Invoice {
    pub terms: Terms,
    pub currency_decimals: u32,
    pub cancelled_at: Option<i64>,
    pub now: Expected,
    pub paid_at: Option<i64>,
    pub closed_at: Option<i64>,
    pub review_since: Option<i64>,
    /// A unit of a link that it held is for others again.
    pub gave_back: bool,
    pub events: Vec<Ev>,
    /// When it is to be looked at again.
    pub timer: Option<i64>,
    pub link: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Link {
    pub slug: String,
    /// In minor units; none when the payer chooses.
    pub amount: Option<u64>,
    /// The least and the most a payer may choose.
    pub bounds: (u64, u64),
    pub currency: String,
    pub assets: Vec<String>,
    pub limit: Option<i64>,
    pub expires_at: Option<i64>,
    pub active: bool,
    /// The limit was lowered, or a unit that was given back was paid for after all.
    pub may_exceed: bool,
}

/// What a wallet was told to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub invoice: String,
    pub asset: String,
    pub network: String,
    pub sender: String,
    pub turn: i64,
    pub destination: String,
    pub units: u128,
    pub suffix: u128,
    pub created_at: i64,
    pub expires_at: i64,
    pub open: bool,
    pub closed_at: Option<i64>,
    /// When its wallet was told something else for the same invoice.
    pub replaced_at: Option<i64>,
}

impl Binding {
    /// Whether another invoice must not be given the same: it is open, or was so recently that a block whose clock is behind
    /// ours may still name it. An invoice may have again what it gave up itself.
    pub fn is_taken(&self, by: &str, now: i64) -> bool {
        let is_recent = self.closed_at.is_some_and(|at| now - at < SLACK_MS);
        self.open || (is_recent && self.invoice != by)
    }
}

#[derive(Clone, Debug)]
pub struct Lease {
    pub family: &'static str,
    pub address: String,
    pub invoice: String,
    pub leased_at: i64,
    pub free_at: Option<i64>,
    pub freed: bool,
    /// By a payer.
    pub picked: bool,
}

#[derive(Clone, Debug)]
pub struct Kept {
    pub request: String,
    pub status: u16,
    pub body: Vec<u8>,
    pub at: i64,
}

/// One account in one mode.
#[derive(Clone, Debug)]
pub struct Merchant {
    pub scope: Scope,
    /// In everything this merchant writes, and in nothing that belongs to another.
    pub mark: String,
    pub offset_ms: i64,
    pub tolerance_bps: u64,
    pub review_cents: Option<u64>,
    pub url: Option<String>,
    pub invoices: BTreeMap<String, Invoice>,
    pub seen: BTreeMap<PaymentKey, Seen>,
    pub leases: Vec<Lease>,
    /// What the server has leased to whom: where an invoice gets another address, the model learns it here.
    pub leased_now: BTreeMap<(String, String), String>,
    /// What the server has told wallets above what is due, by invoice, asset, sender and turn: where several invoices wait again at
    /// once and owe the same, the server chooses who asks for how much more.
    pub suffixes_now: BTreeMap<(String, String, String, i64), u128>,
    /// Bitcoin addresses that were credited.
    pub credited: BTreeSet<String>,
    pub pool_max: i64,
    pub keys: BTreeMap<String, Kept>,
    pub links: BTreeMap<String, Link>,
    pub link_events: usize,
    pub bindings: Vec<Binding>,
    /// What this step has brought, in its order.
    pub fresh: Vec<PaymentKey>,
    /// How many leases and bindings there were when this step began. What a step tells of was sent before, so it is for none that
    /// the step itself makes.
    pub before: (usize, usize),
    /// The invoices that this step touched: whether they were closed before it, and whether they waited again on the way.
    pub moved: BTreeMap<String, (bool, bool)>,
}

/// A payment: the place of its transfer, and which of those that stood there one after the other. There is more than one only where
/// a transaction that ran again sent something else to a merchant's own destination.
pub type PaymentKey = (TransferId, u32);

#[derive(Clone, Debug)]
pub struct Model {
    pub merchants: Vec<Merchant>,
    pub nets: BTreeMap<String, Net>,
    pub credit_at: BTreeMap<String, Level>,
}

impl Model {
    fn level_for(&self, network: &str) -> Level {
        self.credit_at.get(network).copied().unwrap_or(Level::Final)
    }

    /// What the chain says now of transfers, each with the id that the server knows its payment by and the moment of real time at
    /// which it was first seen. What goes and what comes is taken together, and then each invoice is settled once. Answers
    /// whose invoices it touched.
    pub fn observe(
        &mut self,
        news: &[(&Observation, Option<String>, i64)],
        real_now: i64,
    ) -> Vec<(usize, String)> {
        let mut touched: Vec<(usize, String)> = Vec::new();
        for (seen, ..) in news {
            touched.extend(self.leave(seen, real_now));
        }
        for (seen, payment, first_seen_at) in news {
            touched.extend(self.come(seen, payment.as_deref(), real_now, *first_seen_at));
        }
        let mut settled = BTreeSet::new();
        for (m, invoice) in &touched {
            if settled.insert((*m, invoice.clone())) {
                let now = real_now + self.merchants[*m].offset_ms;
                self.settle(*m, invoice, now);
            }
        }
        touched
    }

    /// What an observation takes away: whoever stood at its place, or what it was before.
    fn leave(&mut self, seen: &Observation, real_now: i64) -> Vec<(usize, String)> {
        let id = transfer_of(seen);
        let mut touched = self.displace(&id, seen, real_now);
        let Some((m, key)) = self.payment_of(&id, seen) else {
            return touched;
        };
        let merchant = &mut self.merchants[m];
        let now = real_now + merchant.offset_ms;
        let known = merchant.seen.get_mut(&key).unwrap();
        match seen.sighting {
            Sighting::Disputed => {
                let is_mere_amount = known.verdict.as_deref() == Some("held:manual_review");
                let is_free = ["credited", "refundable"].contains(&known.part.status);
                if is_free || (known.part.status == "held" && is_mere_amount) {
                    known.verdict = Some("held:finality_violation".into());
                }
            }
            Sighting::Removed => known.go(now),
            // A reorganisation left nothing of it.
            _ if seen.units.0 == 0 => known.go(now),
            // What stood in the books is taken back as itself before something else takes its place.
            _ if undoes(known, seen) => known.leave(now),
            _ => {}
        }
        touched.push((m, known.invoice.clone()));
        touched
    }

    fn come(
        &mut self,
        seen: &Observation,
        payment: Option<&str>,
        real_now: i64,
        first_seen_at: i64,
    ) -> Option<(usize, String)> {
        let id = transfer_of(seen);
        let Some((m, key)) = self.payment_of(&id, seen) else {
            return self.first(id, seen, payment, real_now, first_seen_at);
        };
        let merchant = &mut self.merchants[m];
        let now = real_now + merchant.offset_ms;
        let known = merchant.seen.get_mut(&key).unwrap();
        if seen.units.0 != 0 {
            take(known, seen, now);
        }
        Some((m, known.invoice.clone()))
    }

    /// What stood at this place was recognised by what its sender sent, and something else is there now: it is gone.
    fn displace(
        &mut self,
        id: &TransferId,
        seen: &Observation,
        real_now: i64,
    ) -> Vec<(usize, String)> {
        let mut touched = Vec::new();
        if !matches!(seen.sighting, Sighting::Pending | Sighting::InBlock { .. }) {
            return touched;
        }
        for m in 0..self.merchants.len() {
            let merchant = &mut self.merchants[m];
            let now = real_now + merchant.offset_ms;
            let mut at_place = merchant.seen.iter_mut().filter(|((at, _), _)| at == id);
            let other = at_place.find(|(_, known)| {
                !known.is_gone() && !known.is_brought_by(seen.units.0, seen.senders.first())
            });
            if let Some((_, known)) = other {
                known.go(now);
                touched.push((m, known.invoice.clone()));
            }
        }
        touched
    }

    /// The payment that an observation is about: the one that stands there, or the one that it brings back.
    fn payment_of(&self, id: &TransferId, seen: &Observation) -> Option<(usize, PaymentKey)> {
        let merchants = self.merchants.iter().enumerate();
        let mut at_place = merchants.flat_map(|(m, merchant)| {
            let at_place = merchant.seen.iter().filter(|((at, _), _)| at == id);
            at_place.map(move |(key, known)| (m, key, known))
        });
        let found = at_place.find(|(_, _, known)| {
            !known.is_gone() || known.is_brought_by(seen.units.0, seen.senders.first())
        });
        found.map(|(m, key, _)| (m, key.clone()))
    }

    /// Whether a payment of the server's is one of the model's.
    pub fn knows(&self, payment: &str) -> bool {
        let mut seen = self.merchants.iter().flat_map(|it| it.seen.values());
        seen.any(|seen| seen.payment == payment)
    }

    fn first(
        &mut self,
        id: TransferId,
        seen: &Observation,
        payment: Option<&str>,
        real_now: i64,
        first_seen_at: i64,
    ) -> Option<(usize, String)> {
        let level = match &seen.sighting {
            Sighting::Removed | Sighting::Disputed => return None,
            Sighting::Pending => Level::Pending,
            Sighting::InBlock { level, .. } => *level,
        };
        let is_ours = |address: &String| {
            let mut leases = self.merchants.iter().flat_map(|it| &it.leases);
            leases.any(|lease| lease.address == *address)
        };
        // Nobody pays by emptying an address.
        if seen.units.0 == 0 || seen.senders.first().is_some_and(is_ours) {
            return None;
        }
        let found = (0..self.merchants.len()).find_map(|m| {
            let invoice = self.merchants[m].holder(seen, real_now, first_seen_at)?;
            Some((m, invoice, None))
        });
        let leased = |merchant: &Merchant| {
            let mut leases = merchant.leases.iter();
            leases.any(|lease| lease.address == seen.recipient)
        };
        let bound = match self.merchants.iter().any(leased) {
            true => None,
            false => self.bound(seen, real_now, first_seen_at),
        };
        let (m, invoice, suffix) = found.or(bound)?;
        let credit_at = self.level_for(&seen.network);
        let before = self.merchants.iter().flat_map(|it| it.seen_at(&id));
        let key = (id.clone(), u32::try_from(before.count()).unwrap());
        let merchant = &mut self.merchants[m];
        let now = real_now + merchant.offset_ms;
        let mut new = Seen {
            payment: payment.unwrap_or("none").to_owned(),
            invoice: invoice.clone(),
            asset: seen.asset.clone(),
            network: seen.network.clone(),
            sender: seen.senders.first().cloned(),
            recipient: seen.recipient.clone(),
            units: seen.units.0,
            suffix,
            level,
            first_level: level,
            credit_at,
            first_seen_at: first_seen_at + merchant.offset_ms,
            by_sight: merchant.is_moved(seen),
            block: None,
            gone_at: None,
            left: None,
            verdict: None,
            part: Part::default(),
            entries: 0,
            credited_at: None,
        };
        take(&mut new, seen, now);
        merchant.seen.insert(key.clone(), new);
        merchant.fresh.push(key);
        Some((m, invoice))
    }

    /// The same as a merchant's alone, and what concerns others too: an invoice that waits again tells its wallets
    /// what to send, which must not be what another's was told meanwhile.
    pub fn settle(&mut self, m: usize, invoice: &str, now: i64) {
        let waited = |model: &Model| model.merchants[m].moved.get(invoice).map(|it| it.1);
        let before = waited(self);
        self.merchants[m].settle(invoice, now, None);
        if waited(self) == Some(true) && before != Some(true) {
            self.rebind(m, invoice, now);
        }
    }

    /// A step begins: whatever it tells of was sent before.
    pub fn begin(&mut self) {
        for merchant in &mut self.merchants {
            merchant.before = (merchant.leases.len(), merchant.bindings.len());
        }
    }

    /// A step is over: what follows invoices follows them.
    pub fn rest(&mut self, real_now: i64) {
        for merchant in &mut self.merchants {
            let now = real_now + merchant.offset_ms;
            merchant.rest(now);
        }
    }

    fn rebind(&mut self, m: usize, invoice: &str, now: i64) {
        let own = self.merchants[m].bindings.iter();
        let closed: Vec<Binding> = own.filter(|it| it.invoice == invoice).cloned().collect();
        for last in &closed {
            let later = |it: &&Binding| {
                (&it.sender, &it.asset) == (&last.sender, &last.asset) && it.turn > last.turn
            };
            if last.open || closed.iter().any(|it| later(&it)) {
                continue;
            }
            let real_now = now - self.merchants[m].offset_ms;
            let rivals = |it: &&Binding| {
                let of = (&last.asset, &last.sender, &last.destination);
                (&it.asset, &it.sender, &it.destination) == of
            };
            let amounts = |of: &dyn Fn(&Merchant) -> usize| -> Vec<u128> {
                let everybody = self.merchants.iter();
                let bindings = everybody.flat_map(|it| {
                    let now = real_now + it.offset_ms;
                    let known = it.bindings[..of(it)].iter().filter(rivals);
                    known.filter(move |known| known.is_taken(invoice, now))
                });
                bindings.map(|it| it.units).collect()
            };
            let taken = amounts(&|it| it.bindings.len());
            let taken_before = amounts(&|it| it.before.1);
            let terms = &self.merchants[m].invoices[invoice].terms;
            let offer = terms.offers.iter().find(|it| it.asset == last.asset);
            let due = offer.unwrap().due;
            let decimals = Registry::builtin().asset(&last.asset).unwrap().decimals;
            let suffixes = 0..100.min(10u128.pow(decimals.saturating_sub(2)));
            let key = (
                last.invoice.clone(),
                last.asset.clone(),
                last.sender.clone(),
                last.turn + 1,
            );
            let chosen = self.merchants[m].suffixes_now.get(&key).copied();
            // Two alike would be found in the table, and more than is needed here.
            let rebound = taken.len() - taken_before.len();
            let may_choose = |suffix: &u128| {
                let needed = suffixes
                    .clone()
                    .filter(|it| !taken_before.contains(&(due + it)));
                *suffix == last.suffix || needed.take(rebound + 2).any(|it| it == *suffix)
            };
            let chosen = chosen.filter(|suffix| !taken_before.contains(&(due + suffix)));
            let free = chosen.filter(may_choose).or_else(|| {
                std::iter::once(last.suffix)
                    .chain(suffixes.clone())
                    .find(|suffix| !taken.contains(&(due + suffix)))
            });
            if let Some(suffix) = free {
                let again = Binding {
                    units: due + suffix,
                    suffix,
                    turn: last.turn + 1,
                    created_at: now,
                    expires_at: terms.deadline(),
                    open: true,
                    closed_at: None,
                    replaced_at: None,
                    ..last.clone()
                };
                self.merchants[m].tell_wallet(again);
            }
        }
    }
}

impl Model {
    /// Whose wallet sent exactly this, each account in its own time; nobody's when it fits two of them alike.
    fn bound(
        &self,
        seen: &Observation,
        real_now: i64,
        first_seen_at: i64,
    ) -> Option<(usize, String, Option<u128>)> {
        let mode = Registry::builtin().network(&seen.network)?.mode;
        let of_mode = (0..self.merchants.len()).filter(|m| self.merchants[*m].scope.mode == mode);
        let fitting: Vec<(usize, u8, Option<&Binding>)> = of_mode
            .filter_map(|m| {
                let (rank, binding) = self.merchants[m].bound(seen, real_now, first_seen_at)?;
                Some((m, rank, binding))
            })
            .collect();
        let best = fitting.iter().map(|it| it.1).min()?;
        let alike: Vec<_> = fitting.iter().filter(|it| it.1 == best).collect();
        match alike[..] {
            [(m, _, Some(binding))] => Some((*m, binding.invoice.clone(), Some(binding.suffix))),
            _ => None,
        }
    }
}

fn transfer_of(seen: &Observation) -> TransferId {
    TransferId {
        network: seen.network.clone(),
        tx: seen.tx_hash.clone(),
        place: seen.place,
    }
}

/// A transfer that stands in the books is now in another block and not deep enough there, or of another amount.
fn undoes(known: &Seen, seen: &Observation) -> bool {
    if known.part.posted() == 0 || known.is_gone() {
        return false;
    }
    match &seen.sighting {
        // Whoever still sees it waiting is behind: only another block undoes a block.
        Sighting::Removed | Sighting::Pending | Sighting::Disputed => false,
        Sighting::InBlock { level, hash, .. } => {
            let elsewhere = known.block.as_ref().map(|block| &block.1) != Some(hash);
            elsewhere && (*level < known.credit_at || seen.units.0 != known.units)
        }
    }
}

fn take(known: &mut Seen, seen: &Observation, now: i64) {
    let was_dropped = known.is_gone() && known.block.is_none();
    let is_stale = known.block.is_some() && !known.is_gone();
    match &seen.sighting {
        Sighting::Removed => return known.go(now),
        Sighting::Disputed => return,
        Sighting::Pending if is_stale => return,
        Sighting::Pending => {
            (known.level, known.gone_at, known.block) = (Level::Pending, None, None);
        }
        Sighting::InBlock {
            level,
            number,
            hash,
            time,
        } => {
            let same = !known.is_gone() && known.block.as_ref().is_some_and(|b| b.1 == *hash);
            // What was credited does not come later because another block has it.
            if !same && known.part.turn.is_some() {
                known.first_seen_at = known.arrived_at();
            }
            known.level = if same {
                known.level.max(*level)
            } else {
                *level
            };
            known.gone_at = None;
            known.block = Some((*number, hash.clone(), *time));
        }
    }
    if was_dropped {
        known.first_seen_at = now;
    }
    known.units = seen.units.0;
}

impl Merchant {
    /// The payments whose transfers stood at a place of a transaction, one after the other.
    pub fn seen_at(&self, id: &TransferId) -> impl Iterator<Item = &Seen> {
        let at_place = self.seen.range((id.clone(), 0)..=(id.clone(), u32::MAX));
        at_place.map(|(_, seen)| seen)
    }

    /// The answer under a key, unless it is past its thirty days.
    pub fn kept(&self, key: &str, real_now: i64) -> Option<&Kept> {
        let kept = self.keys.get(key)?;
        (kept.at >= real_now - KEPT_MS).then_some(kept)
    }

    /// Block times are real, and a moved clock does not move them: then it counts when a transfer was first seen.
    fn is_moved(&self, seen: &Observation) -> bool {
        seen.source == TransferOrigin::Chain && self.offset_ms != 0
    }

    /// When a transfer was made, in business time.
    fn made_at(&self, seen: &Observation, real_now: i64, first_seen_at: i64) -> i64 {
        match &seen.sighting {
            Sighting::InBlock { time, .. } if !self.is_moved(seen) => {
                (real_now + self.offset_ms).min(*time)
            }
            _ => first_seen_at + self.offset_ms,
        }
    }

    /// A wallet is told what to send: whatever less it was told for the same invoice, or to send elsewhere, has ended.
    pub fn tell_wallet(&mut self, told: Binding) {
        let of = |it: &Binding| (it.invoice.clone(), it.asset.clone(), it.sender.clone());
        for before in &mut self.bindings {
            let is_enough = before.units >= told.units && before.destination == told.destination;
            if of(before) == of(&told) && !is_enough {
                before.replaced_at = before.replaced_at.or(Some(told.created_at));
            }
        }
        self.bindings.push(told);
    }

    /// The binding that held the amount then (0), two minutes of grace before it was made included where nobody else had it;
    /// or else that of the only invoice that could still be paid so (1); or else the last that was made (2). Never one made
    /// after the transfer was seen. None where two fit alike.
    fn bound(
        &self,
        seen: &Observation,
        real_now: i64,
        first_seen_at: i64,
    ) -> Option<(u8, Option<&Binding>)> {
        let at = self.made_at(seen, real_now, first_seen_at);
        let alike = |binding: &&Binding| {
            Some(&binding.sender) == seen.senders.first()
                && binding.asset == seen.asset
                && binding.destination == seen.recipient
                && binding.units == seen.units.0
        };
        let bindings = self.bindings[..self.before.1].iter();
        let mut bindings: Vec<&Binding> = bindings.filter(alike).collect();
        bindings.sort_by_key(|it| (it.created_at, &it.invoice, it.turn));
        let mut fitting: Vec<(u8, &Binding)> = Vec::new();
        for (place, binding) in bindings.iter().enumerate() {
            let made = binding.created_at;
            let before = bindings[..place].iter();
            let others_until = before
                .map(|it| it.closed_at.unwrap_or(made).min(made))
                .max();
            let from = (made - SLACK_MS).max(others_until.unwrap_or(i64::MIN));
            let is_known = first_seen_at + self.offset_ms < made;
            let is_replaced = binding.replaced_at.is_some_and(|end| end <= at);
            if is_known || is_replaced || at < from {
                continue;
            }
            let rank = match binding.closed_at {
                None => 0,
                Some(closed) if at < closed => 0,
                Some(_) => 1 + u8::from(at >= binding.expires_at),
            };
            fitting.push((rank, binding));
        }
        let best = fitting.iter().map(|it| it.0).min()?;
        fitting.retain(|it| it.0 == best);
        let last = fitting.last()?.1;
        let same = fitting.iter().all(|it| it.1.invoice == last.invoice);
        Some((best, (same || best == 2).then_some(last)))
    }

    /// Who held the address when the transfer was made, or last: from so long before its lease as a block's clock may be
    /// behind, where nobody held it then.
    fn holder(&self, seen: &Observation, real_now: i64, first_seen_at: i64) -> Option<String> {
        let network = Registry::builtin().network(&seen.network)?;
        if network.mode != self.scope.mode {
            return None;
        }
        let at = self.made_at(seen, real_now, first_seen_at);
        let of_address = self.leases[..self.before.0].iter().filter(|lease| {
            lease.family == network.family.namespace() && lease.address == seen.recipient
        });
        let slack_ms = match network.family {
            Family::Bitcoin => BITCOIN_SLACK_MS,
            _ => SLACK_MS,
        };
        let (mut holder, mut taken_until) = (None, i64::MIN);
        for lease in of_address {
            let from = (lease.leased_at - slack_ms).max(taken_until.min(lease.leased_at));
            if from <= at {
                holder = Some(lease.invoice.clone());
            }
            taken_until = lease.free_at.unwrap_or(i64::MAX);
        }
        holder
    }

    /// An invoice that waits again and whose address is another's by now has got a fresh one, or none.
    fn relet(&mut self, invoice_id: &str, now: i64) {
        let offers = &mut self.invoices.get_mut(invoice_id).unwrap().terms.offers;
        let families: BTreeSet<&'static str> = offers.iter().map(|offer| offer.family).collect();
        for family in families {
            let mut own = offers.iter().filter(|offer| offer.family == family);
            let address = own.next().unwrap().address.clone();
            // Which of several that wait again at once gets what has cooled down is the server's choice.
            let key = (invoice_id.to_owned(), family.to_owned());
            let is_own = |lease: &Lease| {
                lease.invoice == invoice_id && lease.address == address && !lease.freed
            };
            // It may also get back what was another's meanwhile.
            let is_kept = self.leases.iter().any(is_own);
            if address.is_empty() || (is_kept && self.leased_now.get(&key) == Some(&address)) {
                continue;
            }
            let fresh = self.leased_now.get(&key).cloned().unwrap_or_default();
            for offer in offers.iter_mut().filter(|offer| offer.family == family) {
                offer.address.clone_from(&fresh);
                if !fresh.is_empty() {
                    // Should it not have been free, the table of leases differs from the model's.
                    let _ = crate::check::answers::lease(&mut self.leases, offer, invoice_id, now);
                }
            }
        }
    }

    /// Units of a link that are paid for, and units that are spoken for.
    pub fn units_of(&self, link: &str) -> (i64, i64) {
        let mut units = (0, 0);
        for invoice in self.invoices.values() {
            if invoice.link.as_deref() == Some(link) {
                match invoice.now.status {
                    status if is_paid(status) => units.0 += 1,
                    _ if invoice.gave_back => {}
                    _ => units.1 += 1,
                }
            }
        }
        units
    }

    /// This invoice's payments, those known first by their ids, then the new ones as they came.
    pub fn payments_of(&self, invoice: &str) -> Vec<PaymentKey> {
        let mut ids: Vec<PaymentKey> = self
            .seen
            .iter()
            .filter(|(_, seen)| seen.invoice == invoice)
            .map(|(id, _)| id.clone())
            .collect();
        let turn = |id: &PaymentKey| self.fresh.iter().position(|fresh| fresh == id);
        ids.sort_by_key(|id| (turn(id), self.seen[id].payment.clone()));
        ids
    }

    /// The facts changed, or time did: what follows, and what must be announced.
    pub fn settle(&mut self, invoice_id: &str, now: i64, extra: Option<&str>) {
        let ids = self.payments_of(invoice_id);
        let mut facts: Vec<Seen> = ids.iter().map(|id| self.seen[id].clone()).collect();
        let invoice = self.invoices.get_mut(invoice_id).unwrap();
        let limit = self
            .review_cents
            .map(|cents| cents * 10u64.pow(invoice.currency_decimals) / 100);
        let live = self.scope.mode.is_live();
        let listed = |seen: &Seen| if live { None } else { listed(seen) };
        for (at, verdict) in verdicts(&invoice.terms, &facts, invoice.cancelled_at, limit, listed) {
            facts[at].verdict = Some(verdict);
        }
        let mut after = expect(&invoice.terms, &facts, invoice.cancelled_at, now);
        let moved = self.moved.entry(invoice_id.to_owned());
        let (stood, waited) = moved.or_insert((invoice.closed_at.is_some(), false));
        // What it had is still its own when it was closed only on the way.
        if *stood && invoice.closed_at.is_some() && !after.over && !*waited {
            *waited = true;
            self.relet(invoice_id, now);
            let invoice = &self.invoices[invoice_id];
            after = expect(&invoice.terms, &facts, invoice.cancelled_at, now);
        }
        let invoice = self.invoices.get_mut(invoice_id).unwrap();
        let before = std::mem::replace(&mut invoice.now, after.clone());
        let mut said: Vec<&str> = extra.into_iter().collect();
        let was: Vec<Was> = facts.iter().map(|seen| (seen.part, seen.left)).collect();
        said.extend(announced(before.status, &was, &after));
        for kind in said {
            invoice.say(kind, self.url.is_some());
        }
        // Somebody decides about what can buy nothing: a unit that was given back stays so.
        let is_nothing = after.status == "under_review" && !after.held_counts;
        let is_given_back = after.over && !is_paid(after.status);
        invoice.gave_back = is_given_back || (is_nothing && invoice.gave_back);
        invoice.paid_at = is_paid(after.status).then(|| invoice.paid_at.unwrap_or(now));
        invoice.closed_at = after.over.then(|| invoice.closed_at.unwrap_or(now));
        invoice.review_since =
            (after.status == "under_review").then(|| invoice.review_since.unwrap_or(now));
        for ((id, mut seen), part) in ids.iter().zip(facts).zip(after.parts) {
            seen.entries += i64::from(seen.part.stands() != part.stands());
            if part.status == "credited" && seen.part.status != "credited" {
                seen.credited_at = Some(now);
            }
            (seen.part, seen.left) = (part, None);
            self.seen.insert(id.clone(), seen);
        }
        let gave_back = |of: &Expected| of.over && !is_paid(of.status);
        if let Some(link) = &invoice.link
            && gave_back(&before)
            && !gave_back(&invoice.now)
        {
            self.links.get_mut(link).unwrap().may_exceed = true;
        }
    }

    /// A step is over: timers, leases and bindings follow the invoices that it touched.
    pub fn rest(&mut self, now: i64) {
        self.fresh.clear();
        for (id, (before, waited)) in std::mem::take(&mut self.moved) {
            let invoice = self.invoices.get_mut(&id).unwrap();
            // Whatever happened to its timer before: an invoice that waits has one, also for the rest.
            match invoice.now.status {
                "awaiting_payment" => invoice.timer = Some(invoice.terms.deadline()),
                // One that waits for what is on its way is looked at when that arrives or goes.
                "partially_paid" if !invoice.now.over => {
                    let looks_at = Some(invoice.terms.looks_at(now));
                    invoice.timer = looks_at.filter(|at| *at > now).or(invoice.timer);
                }
                _ => {}
            }
            let after = invoice.closed_at.is_some();
            let shown: Vec<String> = invoice
                .terms
                .offers
                .iter()
                .map(|offer| offer.address.clone())
                .collect();
            let closed = after && (waited || !before);
            let reopened = !after && before;
            if closed {
                let own = |binding: &&mut Binding| binding.invoice == id && binding.open;
                for binding in self.bindings.iter_mut().filter(own) {
                    (binding.open, binding.closed_at) = (false, Some(now));
                }
            }
            let own = |lease: &&mut Lease| lease.invoice == id && !lease.freed;
            for lease in self.leases.iter_mut().filter(own) {
                if (closed || reopened) && shown.contains(&lease.address) {
                    let mut seen = self.seen.values().filter(|seen| seen.invoice == id);
                    // Only of Bitcoin's addresses there are so few that those never paid rest for less.
                    let is_paid = seen.any(|seen| seen.recipient == lease.address);
                    let rest = match lease.family == "bip122" && !is_paid {
                        true => UNPAID_COOLDOWN_MS,
                        false => COOLDOWN_MS,
                    };
                    lease.free_at = closed.then_some(now + rest);
                }
            }
            for seen in self.seen.values().filter(|seen| seen.invoice == id) {
                let bitcoin = seen.network.starts_with("bip122");
                if seen.reached() && bitcoin {
                    self.credited.insert(seen.recipient.clone());
                }
            }
        }
    }

    /// Time passed: what is due by then is looked at, each at `now` or (on a moved clock) at its own moment.
    pub fn fire_timers(&mut self, until: i64, at: impl Fn(i64) -> i64) -> Vec<String> {
        let mut fired = Vec::new();
        while let Some((due_at, id)) = self.next_timer().filter(|(due_at, _)| *due_at <= until) {
            self.invoices.get_mut(&id).unwrap().timer = None;
            self.settle(&id, at(due_at), None);
            self.rest(at(due_at));
            fired.push(id);
        }
        fired
    }

    fn next_timer(&self) -> Option<(i64, String)> {
        let timers = self.invoices.iter();
        let timers = timers.filter_map(|(id, invoice)| Some((invoice.timer?, id)));
        timers.min().map(|(due_at, id)| (due_at, id.clone()))
    }
}

impl Invoice {
    fn say(&mut self, kind: &str, url_set: bool) {
        let streamed = self
            .events
            .iter()
            .filter(|event| event.seq.is_some())
            .count();
        let on_stream = kind == "invoice.created"
            || crate::check::transitions::STATUSES.contains(&kind.trim_start_matches("invoice."));
        self.events.push(Ev {
            kind: kind.to_owned(),
            seq: on_stream.then(|| i64::try_from(streamed).unwrap() + 1),
            hooked: url_set && kind != "invoice.confirming",
            replays: 0,
        });
    }

    pub fn created(&mut self, url_set: bool) {
        self.say("invoice.created", url_set);
    }
}

fn listed(seen: &Seen) -> Option<&'static str> {
    let sender = seen.sender.as_deref()?;
    let lists = till_chains::test_screening().iter();
    lists
        .filter(|(_, _, address)| *address == sender)
        .map(|(_, list, _)| *list)
        .next()
}

/// What a payment was before; and what it was when it left, where it left and came back at once.
type Was = (Part, Option<Part>);

/// Everything that happened between before and after, in the order in which it must be told.
fn announced(before: &str, was: &[Was], after: &Expected) -> Vec<&'static str> {
    let mut said = Vec::new();
    let pays = |part: &Part| part.posted() > 0 && !part.dust && !part.wrong_asset && !part.late;
    let seen = match after.status {
        "under_review" => after.parts.iter().any(pays),
        status => is_paid(status) || matches!(status, "partially_paid" | "confirming"),
    };
    if matches!(before, "awaiting_payment" | "expired") && seen {
        said.push("invoice.detected");
    }
    // The merchant was told that it is theirs, or to be returned.
    let told = |part: &Part| part.turn.is_some() || part.status == "refundable";
    for ((was, left), part) in was.iter().zip(&after.parts) {
        let known = told(was);
        let undone = left.as_ref().is_some_and(told) || (known && part.status == "reversed");
        if undone && (!part.dust || before != after.status) {
            said.push("invoice.payment_reversed");
        }
        if !known && part.status == "refundable" && !part.dust && !part.rejected {
            said.push(match part.wrong_asset {
                true => "invoice.wrong_asset",
                false => "invoice.late_payment",
            });
        }
    }
    let credited = |part: &Part| part.status == "credited";
    let credit_changed = was.iter().zip(&after.parts).any(|((was, left), part)| {
        let has_left = left.as_ref().is_some_and(credited);
        !part.dust && (has_left || credited(was) != credited(part))
    });
    let retold = credit_changed && matches!(after.status, "partially_paid" | "overpaid");
    if before != after.status || retold {
        said.push(match after.status {
            "awaiting_payment" => "invoice.awaiting_payment",
            "detected" => "invoice.detected",
            "confirming" => "invoice.confirming",
            "paid" => "invoice.paid",
            "partially_paid" => "invoice.partially_paid",
            "overpaid" => "invoice.overpaid",
            "paid_late" => "invoice.paid_late",
            "expired" => "invoice.expired",
            "under_review" => "invoice.under_review",
            _ => "invoice.cancelled",
        });
    }
    said
}
