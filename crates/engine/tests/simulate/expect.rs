//! What the contract says about an invoice, worked out from its facts in the plainest way: whole numbers
//! over one common denominator, no code of the engine's.

use num_bigint::BigUint;
use till_core::asset::Registry;
use till_core::payment::Level;

use crate::world::VOLATILE_REST_MS;

#[derive(Clone, Debug)]
pub struct Offer {
    pub asset: String,
    pub due: u128,
    /// Empty while the payer of a link has not picked this chain.
    pub address: String,
    pub family: &'static str,
}

#[derive(Clone, Debug)]
pub struct Terms {
    pub amount_minor: u64,
    pub offers: Vec<Offer>,
    pub tolerance_bps: u64,
    pub expires_at: i64,
    pub select_by: Option<i64>,
    /// It holds one of the units of a link, of which there are only so many.
    pub has_unit: bool,
}

impl Terms {
    /// Without a picked network a link's invoice ends when one should have been picked.
    pub fn deadline(&self) -> i64 {
        let picked = self.offers.iter().any(|offer| !offer.address.is_empty());
        match self.select_by {
            Some(select_by) if !picked => select_by.min(self.expires_at),
            _ => self.expires_at,
        }
    }

    /// A day after its time, nothing is kept for the rest of what was paid in part; an hour, where nothing but coins whose
    /// price moves could be that.
    pub fn closes_at(&self) -> i64 {
        match self.offers.iter().all(|offer| offer.family == "bip122") {
            true => self.expires_at + VOLATILE_REST_MS,
            false => self.expires_at + 24 * 3_600_000,
        }
    }

    /// When the timer of what is paid in part is due: at the end of the rates that it had, then at its own.
    pub fn looks_at(&self, now: i64) -> i64 {
        let stops = self.expires_at + VOLATILE_REST_MS + 1;
        let has_rates = self.offers.iter().any(|offer| offer.family == "bip122");
        match has_rates && now < stops && stops < self.closes_at() {
            true => stops,
            false => self.closes_at(),
        }
    }

    /// It came too late for the rate that its invoice had.
    fn is_stale(&self, seen: &Seen) -> bool {
        self.has_no_rate(&seen.asset, seen.arrived_at())
    }

    pub fn has_no_rate(&self, asset: &str, at: i64) -> bool {
        let mut own = self.offers.iter().filter(|offer| offer.asset == asset);
        own.any(|offer| offer.family == "bip122") && at > self.expires_at + VOLATILE_REST_MS
    }

    /// What was given up takes nothing more, for its unit may be another's. What was on its way before is waited for.
    fn is_given_up(&self, seen: &Seen) -> bool {
        self.has_unit && seen.arrived_at() > self.closes_at()
    }

    /// Nothing that is sent from now on counts, so nothing is asked for, though something may be on its way.
    pub fn takes_nothing(&self, now: i64) -> bool {
        self.has_unit && now >= self.closes_at()
    }

    fn is_over(&self, status: &str, sighted: bool, now: i64) -> bool {
        let waits = self.has_unit && sighted;
        is_closed(status) || (status == "partially_paid" && now >= self.closes_at() && !waits)
    }
}

pub fn is_closed(status: &str) -> bool {
    is_paid(status) || matches!(status, "expired" | "cancelled")
}

pub fn is_paid(status: &str) -> bool {
    matches!(status, "paid" | "overpaid" | "paid_late")
}

/// A transfer as the server was told of it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The id the server gave it.
    pub payment: String,
    pub invoice: String,
    pub asset: String,
    pub network: String,
    pub sender: Option<String>,
    pub recipient: String,
    pub units: u128,
    /// What of the units only tells a wallet's payment from others; none without a binding.
    pub suffix: Option<u128>,
    pub level: Level,
    pub first_level: Level,
    pub credit_at: Level,
    pub first_seen_at: i64,
    /// The account's clock was moved then: a block's time says nothing.
    pub by_sight: bool,
    /// Number, hash and time.
    pub block: Option<(i64, String, i64)>,
    /// When it left the chain; none while it is there.
    pub gone_at: Option<i64>,
    /// What it was when it left the block that it was in, until what it is now is settled.
    pub left: Option<Part>,
    pub verdict: Option<String>,
    pub part: Part,
    pub entries: i64,
    pub credited_at: Option<i64>,
}

impl Seen {
    pub fn arrived_at(&self) -> i64 {
        match &self.block {
            Some((_, _, time)) if *time < self.first_seen_at && !self.by_sight => *time,
            _ => self.first_seen_at,
        }
    }

    /// The suffix pays nothing.
    fn counted(&self) -> u128 {
        self.units.saturating_sub(self.suffix.unwrap_or(0))
    }

    /// Whether a transfer of so much from this sender is this payment. To an invoice's own address anything is; to a merchant's
    /// destination only exactly what the wallet was told to send.
    pub fn is_brought_by(&self, units: u128, sender: Option<&String>) -> bool {
        self.suffix.is_none() || (self.units == units && self.sender.as_ref() == sender)
    }

    /// It left the chain. Should it come back, it is judged anew.
    pub fn go(&mut self, now: i64) {
        self.gone_at = self.gone_at.or(Some(now));
        self.verdict = None;
    }

    /// It left, and comes back with the same step: the books have it twice.
    pub fn leave(&mut self, now: i64) {
        self.go(now);
        self.entries += i64::from(self.part.posted() > 0);
        let reversed = Part {
            status: "reversed",
            ..Part::default()
        };
        self.left = Some(std::mem::replace(&mut self.part, reversed));
    }

    pub fn is_gone(&self) -> bool {
        self.gone_at.is_some()
    }

    pub fn reached(&self) -> bool {
        !self.is_gone() && self.level >= self.credit_at
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Empty before the server has seen it.
    pub status: &'static str,
    pub held: u128,
    pub settled: u128,
    pub overpaid: u128,
    pub refundable: u128,
    pub late: bool,
    pub wrong_asset: bool,
    pub dust: bool,
    pub rejected: bool,
    /// Its turn among the credited payments; what came first settles first.
    pub turn: Option<u32>,
}

impl Part {
    pub fn posted(&self) -> u128 {
        self.held + self.settled + self.overpaid + self.refundable
    }

    pub fn stands(&self) -> [u128; 4] {
        [self.held, self.settled, self.overpaid, self.refundable]
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    pub status: &'static str,
    pub parts: Vec<Part>,
    pub received: Vec<(String, u128)>,
    pub remaining: Option<(String, u128)>,
    pub overpaid: Option<(String, u128)>,
    pub hold: Option<String>,
    /// Accepted, something that is held would count.
    pub held_counts: bool,
    /// Nothing more is waited for.
    pub over: bool,
}

/// Shares of the price over the product of all amounts due.
struct Shares<'a> {
    terms: &'a Terms,
    whole: BigUint,
}

impl Shares<'_> {
    fn of(&self, seen: &Seen) -> BigUint {
        match due(self.terms, &seen.asset) {
            Some(due) => BigUint::from(seen.counted()) * (&self.whole / BigUint::from(due)),
            None => BigUint::ZERO,
        }
    }

    /// Worth at least the smallest unit of the invoice's currency.
    fn counts(&self, share: &BigUint) -> bool {
        share * self.terms.amount_minor >= self.whole
    }
}

fn due(terms: &Terms, asset: &str) -> Option<u128> {
    let offer = terms.offers.iter().find(|offer| offer.asset == asset);
    offer.map(|offer| offer.due)
}

fn shares(terms: &Terms) -> Shares<'_> {
    let product = terms.offers.iter().map(|offer| BigUint::from(offer.due));
    Shares {
        terms,
        whole: product.product(),
    }
}

fn narrow(number: &BigUint) -> u128 {
    u128::try_from(number).expect("an amount of a simulated token")
}

/// Worth less than a cent; of what was not asked for, a cent of its own currency.
fn is_dust(terms: &Terms, seen: &Seen) -> bool {
    if due(terms, &seen.asset).is_some() {
        let shares = shares(terms);
        return !shares.counts(&shares.of(seen));
    }
    match Registry::builtin().asset(&seen.asset) {
        Some(asset) if asset.currency.is_some() => seen.units * 100 < 10u128.pow(asset.decimals),
        _ => false,
    }
}

/// Whether each payment counts towards the price: `late` and `wrong_asset` do not. One that came after the
/// deadline counts if one that counts was there when it came, and if it has been credited.
fn standing(terms: &Terms, payments: &[Seen], cancelled_at: Option<i64>) -> Vec<(bool, bool)> {
    let wrong = |seen: &Seen| due(terms, &seen.asset).is_none();
    let mut counted: Vec<usize> = Vec::new();
    for at in by_arrival(payments) {
        let seen = &payments[at];
        let keeps_open = |other: &usize| {
            let other = &payments[*other];
            !is_dust(terms, other) && other.gone_at.is_none_or(|gone| seen.arrived_at() <= gone)
        };
        let kept_open = counted.iter().any(keeps_open);
        let in_time = seen.arrived_at() < terms.deadline();
        let is_over = terms.is_stale(seen)
            || terms.is_given_up(seen)
            || cancelled_at.is_some_and(|it| seen.arrived_at() >= it);
        if !wrong(seen) && !is_over && (in_time || kept_open || seen.part.turn.is_some()) {
            counted.push(at);
        }
    }
    let of = |(at, seen): (usize, &Seen)| {
        let late = !counted.contains(&at) || cancelled_at.is_some();
        (!wrong(seen) && late, wrong(seen))
    };
    payments.iter().enumerate().map(of).collect()
}

fn by_arrival(payments: &[Seen]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..payments.len()).collect();
    order.sort_by_key(|at| (payments[*at].arrived_at(), payments[*at].payment.clone()));
    order
}

/// The verdicts on payments that reached their level and have none yet. A limit is in minor units, and measures
/// all that has reached its level and counts. Dust is never too much.
pub fn verdicts(
    terms: &Terms,
    payments: &[Seen],
    cancelled_at: Option<i64>,
    limit: Option<u64>,
    listed: impl Fn(&Seen) -> Option<&'static str>,
) -> Vec<(usize, String)> {
    let shares = shares(terms);
    let standing = standing(terms, payments, cancelled_at);
    let counts = |at: usize| standing[at] == (false, false);
    let reached = || (0..payments.len()).filter(|at| payments[*at].reached());
    let total: BigUint = reached()
        .filter(|at| counts(*at))
        .map(|at| shares.of(&payments[at]))
        .sum();
    let over = limit.is_some_and(|limit| &total * terms.amount_minor >= &shares.whole * limit);
    let open = reached().filter(|at| match payments[*at].verdict.as_deref() {
        None => true,
        Some("screened") => counts(*at),
        Some(_) => false,
    });
    let judge = |at: usize| match listed(&payments[at]) {
        Some(list) => format!("held:{list}"),
        None if !counts(at) => "screened".to_owned(),
        None if over && !is_dust(terms, &payments[at]) => "held:manual_review".to_owned(),
        None => "passed".to_owned(),
    };
    open.map(|at| (at, judge(at))).collect()
}

/// What one payment is by itself.
fn alone(seen: &Seen, counts: bool, dust: bool) -> &'static str {
    match (seen.is_gone(), seen.reached(), seen.level) {
        (true, _, _) => return "reversed",
        (_, false, Level::Pending) => return "pending",
        (_, false, _) => return "confirming",
        _ => {}
    }
    match seen.verdict.as_deref() {
        // Credited before, and too little to ask anybody about.
        Some("held:finality_violation") if counts && dust => "credited",
        Some(verdict) if verdict.starts_with("held:") => "held",
        Some("rejected") => "refundable",
        _ if !counts => "refundable",
        Some("passed" | "accepted") => "credited",
        _ => "confirming",
    }
}

pub fn expect(terms: &Terms, payments: &[Seen], cancelled_at: Option<i64>, now: i64) -> Expected {
    let shares = shares(terms);
    let standing = standing(terms, payments, cancelled_at);
    let mut out = Expected::default();
    let (mut credited, mut timely, mut real) = (BigUint::ZERO, BigUint::ZERO, BigUint::ZERO);
    let mut waiting = BigUint::ZERO;
    let (mut paid_in, mut sighted, mut risen, mut last_asset) = (false, false, false, None);
    let mut parts = vec![Part::default(); payments.len()];
    for at in by_arrival(payments) {
        let (seen, part) = (&payments[at], &mut parts[at]);
        (part.late, part.wrong_asset) = standing[at];
        let counts = standing[at] == (false, false);
        let share = shares.of(seen);
        part.dust = is_dust(terms, seen);
        part.rejected = seen.verdict.as_deref() == Some("rejected");
        part.status = alone(seen, counts, part.dust);
        if seen.reached() {
            add(&mut out.received, &seen.asset, seen.units);
        }
        if counts && !part.dust && !seen.is_gone() {
            last_asset = Some(seen.asset.clone());
        }
        match part.status {
            "held" if !part.dust => {
                sighted |= counts;
                out.held_counts |= counts;
                let hold = seen.verdict.as_deref().unwrap().strip_prefix("held:");
                if matches!(out.hold.as_deref(), None | Some("manual_review")) {
                    out.hold = hold.map(str::to_owned);
                }
            }
            "credited" => {
                paid_in |= !part.dust;
                credited += &share;
                if !part.dust {
                    real += &share;
                }
                if seen.arrived_at() < terms.deadline() {
                    timely += share;
                }
            }
            "pending" | "confirming" if counts => {
                waiting += share;
                sighted |= !part.dust;
                risen |= !part.dust && seen.level > seen.first_level;
            }
            _ => {}
        }
    }
    split(terms, payments, &mut parts);
    let enough = |share: &BigUint| {
        shares.counts(share) && share * 10_000u32 >= &shares.whole * (10_000 - terms.tolerance_bps)
    };
    out.overpaid = overpaid(terms, payments, &parts);
    let unheld = if cancelled_at.is_some() {
        "cancelled"
    } else if enough(&credited) {
        match (
            out.overpaid.is_some() && real > shares.whole,
            enough(&timely),
        ) {
            (true, _) => "overpaid",
            (false, false) => "paid_late",
            (false, true) => "paid",
        }
    } else if paid_in {
        "partially_paid"
    } else if sighted {
        if risen { "confirming" } else { "detected" }
    } else if now >= terms.deadline() {
        "expired"
    } else {
        "awaiting_payment"
    };
    out.status = match &out.hold {
        Some(_) => "under_review",
        None => unheld,
    };
    for (seen, part) in payments.iter().zip(&mut parts) {
        // What little came to an invoice that nobody paid goes back.
        if part.status == "credited" && unheld == "expired" {
            (part.status, part.turn) = ("refundable", None);
            (part.settled, part.overpaid) = (0, 0);
        }
        match part.status {
            "refundable" => part.refundable = seen.units,
            "held" => {
                part.held = seen.units;
                // What was credited before it was doubted keeps its turn.
                part.turn = seen.part.turn;
            }
            _ => {}
        }
    }
    if out.status == "partially_paid"
        && let Some(last) = last_asset
    {
        let mut offers = terms.offers.iter().map(|offer| offer.asset.clone());
        let asset = match terms.has_no_rate(&last, now) {
            true => offers
                .find(|it| !terms.has_no_rate(it, now))
                .unwrap_or(last),
            false => last,
        };
        let sent = &credited + &waiting;
        let left = if enough(&sent) {
            BigUint::ZERO
        } else {
            let left = (&shares.whole - &sent) * due(terms, &asset).unwrap();
            (left + &shares.whole - 1u32) / &shares.whole
        };
        out.remaining = Some((asset, narrow(&left)));
    }
    if out.status != "overpaid" {
        out.overpaid = None;
    }
    out.over = terms.is_over(out.status, sighted, now);
    out.parts = parts;
    out
}

/// Whoever was credited first settles first; what goes beyond the price is too much.
fn split(terms: &Terms, payments: &[Seen], parts: &mut [Part]) {
    let shares = shares(terms);
    let mut order = by_arrival(payments);
    order.retain(|at| parts[*at].status == "credited");
    order.sort_by_key(|at| payments[*at].part.turn.unwrap_or(u32::MAX));
    let mut last = payments.iter().filter_map(|seen| seen.part.turn).max();
    let mut sum = BigUint::ZERO;
    for at in order {
        let (seen, part) = (&payments[at], &mut parts[at]);
        part.turn = seen.part.turn.or_else(|| {
            last = Some(last.unwrap_or(0) + 1);
            last
        });
        let before = sum.clone();
        sum += shares.of(seen);
        part.overpaid = if before >= shares.whole {
            seen.units
        } else if sum > shares.whole {
            narrow(&((&sum - &shares.whole) * due(terms, &seen.asset).unwrap() / &shares.whole))
        } else {
            0
        };
        part.settled = seen.units - part.overpaid;
    }
}

fn add(sums: &mut Vec<(String, u128)>, asset: &str, units: u128) {
    match sums.iter_mut().find(|(known, _)| known == asset) {
        Some((_, sum)) => *sum += units,
        None => sums.push((asset.to_owned(), units)),
    }
}

/// The asset in which most is too much, measured by what was due in it.
fn overpaid(terms: &Terms, payments: &[Seen], parts: &[Part]) -> Option<(String, u128)> {
    let mut sums = Vec::new();
    for (seen, part) in payments.iter().zip(parts) {
        if part.overpaid > 0 {
            add(&mut sums, &seen.asset, part.overpaid);
        }
    }
    let shares = shares(terms);
    sums.into_iter().max_by_key(|(asset, units)| {
        let share = BigUint::from(*units) * (&shares.whole / due(terms, asset).unwrap_or(1));
        (share, asset.clone())
    })
}
