//! What the server must hold, kept beside it: merchants, invoices, transfers as they were observed, leases,
//! events and idempotency keys. It follows each step by the contract alone.

use std::collections::BTreeMap;

use till_core::asset::Registry;
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::intake::{Observation, Sighting};

use crate::chain::{Chain, TransferId};
use crate::expect::{Expected, Part, Seen, Terms, expect, verdicts};

pub const COOLDOWN_MS: i64 = 20 * 60_000;
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
    pub events: Vec<Ev>,
    /// Its expiry is still to be looked at.
    pub timer: bool,
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
    pub destination: String,
    pub units: u128,
    pub suffix: u128,
    pub created_at: i64,
    pub expires_at: i64,
    pub open: bool,
}

#[derive(Clone, Debug)]
pub struct Lease {
    pub family: &'static str,
    pub address: String,
    pub invoice: String,
    pub leased_at: i64,
    pub free_at: Option<i64>,
    pub freed: bool,
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
    pub seen: BTreeMap<TransferId, Seen>,
    pub leases: Vec<Lease>,
    pub pool_max: i64,
    pub chains: Vec<Chain>,
    pub keys: BTreeMap<String, Kept>,
    pub links: BTreeMap<String, Link>,
    pub link_events: usize,
    pub bindings: Vec<Binding>,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub merchants: Vec<Merchant>,
    pub credit_at: BTreeMap<String, Level>,
}

pub fn is_closed(status: &str) -> bool {
    is_paid(status) || matches!(status, "expired" | "cancelled")
}

pub fn is_paid(status: &str) -> bool {
    matches!(status, "paid" | "overpaid" | "paid_late")
}

impl Model {
    fn level_for(&self, network: &str) -> Level {
        self.credit_at.get(network).copied().unwrap_or(Level::Final)
    }

    /// An observation reaches the server. `payment` is the id the server knows it by, if it took it in.
    /// Answers which invoice it touched.
    pub fn observe(
        &mut self,
        m: usize,
        seen: &Observation,
        payment: Option<&str>,
        now: i64,
    ) -> Option<String> {
        let credit_at = self.level_for(&seen.network);
        let bound = self.bound(m, seen, now);
        let merchant = &mut self.merchants[m];
        let id = TransferId {
            network: seen.network.clone(),
            tx: seen.tx_hash.clone(),
            place: seen.place,
        };
        let Some(known) = merchant.seen.get(&id) else {
            if seen.units.0 == 0 {
                return None;
            }
            let leased = merchant.holder(seen, now).map(|invoice| (invoice, None));
            let (invoice, suffix) = leased.or(bound)?;
            let level = match &seen.sighting {
                Sighting::Removed => return None,
                Sighting::Pending => Level::Pending,
                Sighting::InBlock { level, .. } => *level,
            };
            let mut new = Seen {
                payment: payment.unwrap_or("none").to_owned(),
                invoice: invoice.clone(),
                asset: seen.asset.clone(),
                network: seen.network.clone(),
                sender: seen.sender.clone(),
                units: seen.units.0,
                suffix,
                level,
                first_level: level,
                credit_at,
                first_seen_at: now,
                block: None,
                gone_at: None,
                verdict: None,
                part: Part::default(),
                entries: 0,
                credited_at: None,
            };
            take(&mut new, seen, now);
            merchant.seen.insert(id.clone(), new);
            merchant.settle(&invoice, now, None, Some(&id));
            return Some(invoice);
        };
        let invoice = known.invoice.clone();
        if seen.units.0 == 0 {
            // A reorganisation left nothing of it.
            merchant.seen.get_mut(&id).unwrap().go(now);
            merchant.settle(&invoice, now, None, None);
            return Some(invoice);
        }
        if undoes(known, seen) {
            // What stood in the books is taken back as itself before something else takes its place.
            merchant.seen.get_mut(&id).unwrap().go(now);
            merchant.settle(&invoice, now, None, None);
        }
        take(merchant.seen.get_mut(&id).unwrap(), seen, now);
        merchant.settle(&invoice, now, None, None);
        Some(invoice)
    }
}

impl Model {
    /// Whose wallet sent exactly this in time: the one binding that fits, or the one of them that is still open.
    /// A transfer shows no account, so everybody's bindings are looked at; another's is nobody's here.
    fn bound(&self, m: usize, seen: &Observation, now: i64) -> Option<(String, Option<u128>)> {
        let mode = Registry::builtin().network(&seen.network)?.mode;
        let at = match &seen.sighting {
            Sighting::InBlock { time, .. } => now.min(*time),
            _ => now,
        };
        let fits = |binding: &&Binding| {
            Some(&binding.sender) == seen.sender.as_ref()
                && binding.asset == seen.asset
                && binding.destination == seen.recipient
                && binding.units == seen.units.0
                && (binding.created_at..binding.expires_at).contains(&at)
        };
        let mut fitting: Vec<(usize, &Binding)> = Vec::new();
        for (owner, merchant) in self.merchants.iter().enumerate() {
            if merchant.scope.mode == mode {
                let of_owner = merchant.bindings.iter().filter(fits);
                fitting.extend(of_owner.map(|binding| (owner, binding)));
            }
        }
        if fitting.iter().any(|(_, binding)| binding.open) {
            fitting.retain(|(_, binding)| binding.open);
        }
        match fitting.as_slice() {
            [(owner, binding)] if *owner == m => {
                Some((binding.invoice.clone(), Some(binding.suffix)))
            }
            _ => None,
        }
    }
}

/// A transfer that stands in the books is now in another block and not deep enough there, or of another amount.
fn undoes(known: &Seen, seen: &Observation) -> bool {
    if known.part.posted() == 0 || known.is_gone() {
        return false;
    }
    match &seen.sighting {
        Sighting::Removed => false,
        Sighting::Pending => true,
        Sighting::InBlock { level, hash, .. } => {
            let elsewhere = known.block.as_ref().map(|block| &block.1) != Some(hash);
            elsewhere && (*level < known.credit_at || seen.units.0 != known.units)
        }
    }
}

fn take(known: &mut Seen, seen: &Observation, now: i64) {
    known.units = seen.units.0;
    match &seen.sighting {
        Sighting::Removed => known.go(now),
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
            known.level = if same {
                known.level.max(*level)
            } else {
                *level
            };
            known.gone_at = None;
            known.block = Some((*number, hash.clone(), *time));
        }
    }
}

impl Merchant {
    /// The answer under a key, unless it is past its thirty days.
    pub fn kept(&self, key: &str, real_now: i64) -> Option<&Kept> {
        let kept = self.keys.get(key)?;
        (kept.at >= real_now - KEPT_MS).then_some(kept)
    }

    /// Who held the address when the transfer was made; before the first lease, the first.
    fn holder(&self, seen: &Observation, now: i64) -> Option<String> {
        let network = Registry::builtin().network(&seen.network)?;
        if network.mode != self.scope.mode {
            return None;
        }
        let at = match &seen.sighting {
            Sighting::InBlock { time, .. } => now.min(*time),
            _ => now,
        };
        let mut of_address = self.leases.iter().filter(|lease| {
            lease.family == network.family.namespace() && lease.address == seen.recipient
        });
        let first = of_address.clone().next()?;
        let then = of_address.rfind(|lease| lease.leased_at <= at);
        Some(then.unwrap_or(first).invoice.clone())
    }

    /// Units of a link that are paid for, and units that are spoken for.
    pub fn units_of(&self, link: &str) -> (i64, i64) {
        let mut units = (0, 0);
        for invoice in self.invoices.values() {
            if invoice.link.as_deref() == Some(link) {
                match invoice.now.status {
                    status if is_paid(status) => units.0 += 1,
                    "expired" | "cancelled" => {}
                    _ => units.1 += 1,
                }
            }
        }
        units
    }

    /// This invoice's payments, those known first by their ids, then the new one.
    pub fn payments_of(&self, invoice: &str, new: Option<&TransferId>) -> Vec<TransferId> {
        let mut ids: Vec<TransferId> = self
            .seen
            .iter()
            .filter(|(_, seen)| seen.invoice == invoice)
            .map(|(id, _)| id.clone())
            .collect();
        ids.sort_by_key(|id| (new == Some(id), self.seen[id].payment.clone()));
        ids
    }

    /// The facts changed, or time did: what follows, and what must be announced.
    pub fn settle(
        &mut self,
        invoice_id: &str,
        now: i64,
        extra: Option<&str>,
        new: Option<&TransferId>,
    ) {
        let ids = self.payments_of(invoice_id, new);
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
        let after = expect(&invoice.terms, &facts, invoice.cancelled_at, now);
        let before = std::mem::replace(&mut invoice.now, after.clone());
        // Whatever happened to its timer before: an invoice that waits has one.
        invoice.timer |= after.status == "awaiting_payment";
        let mut said: Vec<&str> = extra.into_iter().collect();
        let was: Vec<Part> = facts.iter().map(|seen| seen.part).collect();
        said.extend(announced(before.status, &was, &after));
        for kind in said {
            invoice.say(kind, self.url.is_some());
        }
        invoice.paid_at = is_paid(after.status).then(|| invoice.paid_at.unwrap_or(now));
        invoice.closed_at = is_closed(after.status).then(|| invoice.closed_at.unwrap_or(now));
        invoice.review_since =
            (after.status == "under_review").then(|| invoice.review_since.unwrap_or(now));
        for ((id, mut seen), part) in ids.iter().zip(facts).zip(after.parts) {
            seen.entries += i64::from(seen.part.stands() != part.stands());
            if part.status == "credited" && seen.part.status != "credited" {
                seen.credited_at = Some(now);
            }
            seen.part = part;
            self.seen.insert(id.clone(), seen);
        }
        if let Some(link) = &invoice.link
            && matches!(before.status, "expired" | "cancelled")
            && !matches!(after.status, "expired" | "cancelled")
        {
            self.links.get_mut(link).unwrap().may_exceed = true;
        }
        if !is_closed(before.status) && is_closed(after.status) {
            let own = |binding: &&mut Binding| binding.invoice == invoice_id;
            for binding in self.bindings.iter_mut().filter(own) {
                binding.open = false;
            }
        }
        if is_closed(before.status) != is_closed(after.status) {
            let free_at = is_closed(after.status).then_some(now + COOLDOWN_MS);
            let own = |lease: &&mut Lease| lease.invoice == invoice_id && !lease.freed;
            for lease in self.leases.iter_mut().filter(own) {
                lease.free_at = free_at;
            }
        }
    }

    /// Time passed: what is due by then is looked at, each at `now` or (on a moved clock) at its own moment.
    pub fn fire_timers(&mut self, until: i64, at: impl Fn(i64) -> i64) -> Vec<String> {
        let mut due: Vec<(i64, String)> = self
            .invoices
            .iter()
            .filter(|(_, invoice)| invoice.timer && invoice.terms.deadline() <= until)
            .map(|(id, invoice)| (invoice.terms.deadline(), id.clone()))
            .collect();
        due.sort();
        for (due_at, id) in &due {
            self.invoices.get_mut(id).unwrap().timer = false;
            self.settle(id, at(*due_at), None, None);
        }
        due.into_iter().map(|(_, id)| id).collect()
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

/// Everything that happened between before and after, in the order in which it must be told.
fn announced(before: &str, was: &[Part], after: &Expected) -> Vec<&'static str> {
    let mut said = Vec::new();
    let pays = |part: &Part| part.posted() > 0 && !part.dust && !part.wrong_asset && !part.late;
    let seen = match after.status {
        "under_review" => after.parts.iter().any(pays),
        status => is_paid(status) || status == "partially_paid",
    };
    if matches!(before, "awaiting_payment" | "expired") && seen {
        said.push("invoice.detected");
    }
    for (was, part) in was.iter().zip(&after.parts) {
        // The merchant was told that it is theirs, or to be returned.
        let known = was.turn.is_some() || was.status == "refundable";
        if known && part.status == "reversed" && (!part.dust || before != after.status) {
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
    let credit_changed = was
        .iter()
        .zip(&after.parts)
        .any(|(a, b)| !b.dust && credited(a) != credited(b));
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
