//! What the contract says about an invoice, worked out from its facts in the plainest way: whole numbers
//! over one common denominator, no code of the engine's.

use num_bigint::BigUint;
use till_core::payment::Level;

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
    pub units: u128,
    /// What of the units only tells a wallet's payment from others; none without a binding.
    pub suffix: Option<u128>,
    pub level: Level,
    pub first_level: Level,
    pub credit_at: Level,
    pub first_seen_at: i64,
    /// Number, hash and time.
    pub block: Option<(i64, String, i64)>,
    pub reversed: bool,
    pub verdict: Option<String>,
    pub part: Part,
    pub entries: i64,
    pub credited_at: Option<i64>,
}

impl Seen {
    pub fn arrived_at(&self) -> i64 {
        match &self.block {
            Some((_, _, time)) if *time < self.first_seen_at => *time,
            _ => self.first_seen_at,
        }
    }

    /// The suffix pays nothing.
    fn counted(&self) -> u128 {
        self.units.saturating_sub(self.suffix.unwrap_or(0))
    }

    pub fn reached(&self) -> bool {
        !self.reversed && self.level >= self.credit_at
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

/// Whether each payment counts towards the price: `late` and `wrong_asset` do not.
fn standing(terms: &Terms, payments: &[Seen], cancelled_at: Option<i64>) -> Vec<(bool, bool)> {
    let shares = shares(terms);
    let in_time: BigUint = payments
        .iter()
        .filter(|seen| !seen.reversed && seen.arrived_at() < terms.deadline())
        .map(|seen| shares.of(seen))
        .sum();
    let kept_open = shares.counts(&in_time);
    let of = |seen: &Seen| {
        let wrong = due(terms, &seen.asset).is_none();
        let after_end = seen.arrived_at() >= terms.deadline() && !kept_open;
        (!wrong && (after_end || cancelled_at.is_some()), wrong)
    };
    payments.iter().map(of).collect()
}

fn by_arrival(payments: &[Seen]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..payments.len()).collect();
    order.sort_by_key(|at| (payments[*at].arrived_at(), payments[*at].payment.clone()));
    order
}

/// The verdicts on payments that reached their level and have none yet. A limit is in minor units.
pub fn verdicts(
    terms: &Terms,
    payments: &[Seen],
    cancelled_at: Option<i64>,
    limit: Option<u64>,
    listed: impl Fn(&Seen) -> Option<&'static str>,
) -> Vec<(usize, String)> {
    if cancelled_at.is_some() {
        return Vec::new();
    }
    let shares = shares(terms);
    let standing = standing(terms, payments, None);
    let mut total = BigUint::ZERO;
    let mut out = Vec::new();
    for at in by_arrival(payments) {
        let seen = &payments[at];
        if standing[at] != (false, false) || !seen.reached() {
            continue;
        }
        total += shares.of(seen);
        if seen.verdict.is_some() {
            continue;
        }
        let over = limit.is_some_and(|limit| &total * terms.amount_minor >= &shares.whole * limit);
        out.push((
            at,
            match (listed(seen), over) {
                (Some(list), _) => format!("held:{list}"),
                (None, true) => "held:manual_review".to_owned(),
                (None, false) => "passed".to_owned(),
            },
        ));
    }
    out
}

pub fn expect(terms: &Terms, payments: &[Seen], cancelled_at: Option<i64>, now: i64) -> Expected {
    let shares = shares(terms);
    let standing = standing(terms, payments, cancelled_at);
    let mut out = Expected::default();
    let (mut credited, mut waiting) = (BigUint::ZERO, BigUint::ZERO);
    let (mut risen, mut complete_at, mut last_asset) = (false, None, None);
    let mut parts = vec![Part::default(); payments.len()];
    for at in by_arrival(payments) {
        let (seen, part) = (&payments[at], &mut parts[at]);
        (part.late, part.wrong_asset) = standing[at];
        let share = shares.of(seen);
        part.dust = !part.wrong_asset && !shares.counts(&share);
        if seen.reached() {
            add(&mut out.received, &seen.asset, seen.units);
        }
        part.status = match (seen.reversed, seen.reached(), seen.level) {
            (true, _, _) => "reversed",
            (_, false, Level::Pending) => "pending",
            (_, false, _) => "confirming",
            _ if part.late || part.wrong_asset => "refundable",
            _ => match seen.verdict.as_deref() {
                Some("passed" | "accepted") => "credited",
                Some(_) => "held",
                None => "confirming",
            },
        };
        match part.status {
            "refundable" => part.refundable = seen.units,
            "held" => {
                part.held = seen.units;
                let hold = seen
                    .verdict
                    .as_deref()
                    .and_then(|v| v.strip_prefix("held:"));
                if out
                    .hold
                    .as_deref()
                    .is_none_or(|known| known == "manual_review")
                {
                    out.hold = hold.map(str::to_owned);
                }
            }
            "credited" => {
                let before = credited.clone();
                credited += share;
                let over = if before >= shares.whole {
                    seen.units
                } else if credited > shares.whole {
                    let due = due(terms, &seen.asset).unwrap();
                    narrow(&((&credited - &shares.whole) * due / &shares.whole)).min(seen.units)
                } else {
                    0
                };
                (part.settled, part.overpaid) = (seen.units - over, over);
                last_asset = Some(seen.asset.clone());
                let enough = &shares.whole * (10_000 - terms.tolerance_bps);
                if complete_at.is_none() && &credited * 10_000u32 >= enough {
                    complete_at = Some(seen.arrived_at());
                }
            }
            "reversed" => {}
            _ if part.late || part.wrong_asset => {}
            _ => {
                waiting += share;
                risen |= seen.level > seen.first_level;
            }
        }
    }
    out.overpaid = overpaid(terms, payments, &parts);
    out.status = if cancelled_at.is_some() {
        "cancelled"
    } else if out.hold.is_some() {
        "under_review"
    } else if let Some(at) = complete_at {
        match (&out.overpaid, at >= terms.deadline()) {
            (Some(_), _) => "overpaid",
            (None, true) => "paid_late",
            (None, false) => "paid",
        }
    } else if shares.counts(&credited) {
        "partially_paid"
    } else if waiting > BigUint::ZERO && shares.counts(&(&credited + &waiting)) {
        if risen { "confirming" } else { "detected" }
    } else if now >= terms.deadline() {
        "expired"
    } else {
        "awaiting_payment"
    };
    if out.status == "partially_paid"
        && let Some(asset) = last_asset
    {
        let left = (&shares.whole - &credited) * due(terms, &asset).unwrap();
        let rounded = (left + &shares.whole - 1u32) / &shares.whole;
        out.remaining = Some((asset, narrow(&rounded)));
    }
    if out.status != "under_review" {
        out.hold = None;
    }
    if out.status != "overpaid" {
        out.overpaid = None;
    }
    out.parts = parts;
    out
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
        BigUint::from(*units) * (&shares.whole / due(terms, asset).unwrap_or(1))
    })
}
