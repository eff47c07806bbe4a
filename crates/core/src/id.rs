//! Ids: a prefix that says what the thing is, and a UUIDv7 in a compact lower-case alphabet.
//!
//! The text sorts as the time of making does, so newest-first lists are `ORDER BY id DESC`.

/// Crockford's base 32 in lower case: no letter that reads like a digit, and ASCII order is value order.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BODY_CHARS: usize = 26;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    Account,
    ApiKey,
    Application,
    AuditEvent,
    Ceremony,
    Change,
    Confirmation,
    CreditEntry,
    Customer,
    Delivery,
    Digest,
    Event,
    Invite,
    Invoice,
    JournalEntry,
    MemberNotice,
    Notice,
    Passkey,
    Payment,
    PaymentLink,
    Plan,
    Refund,
    Request,
    ReviewDecision,
    Session,
    Subscription,
    UnattributedDeposit,
    User,
}

impl IdKind {
    pub fn prefix(self) -> &'static str {
        match self {
            IdKind::Account => "acct_",
            IdKind::ApiKey => "key_",
            IdKind::Application => "app_",
            IdKind::AuditEvent => "aud_",
            IdKind::Ceremony => "cer_",
            IdKind::Change => "chg_",
            IdKind::Confirmation => "cnf_",
            IdKind::CreditEntry => "cre_",
            IdKind::Customer => "cus_",
            IdKind::Delivery => "whd_",
            IdKind::Digest => "dig_",
            IdKind::Event => "evt_",
            IdKind::Invite => "ivt_",
            IdKind::Invoice => "inv_",
            IdKind::JournalEntry => "jrn_",
            IdKind::MemberNotice => "ntf_",
            IdKind::Notice => "ntc_",
            IdKind::Passkey => "psk_",
            IdKind::Payment => "pay_",
            IdKind::PaymentLink => "plink_",
            IdKind::Plan => "plan_",
            IdKind::Refund => "rfd_",
            IdKind::Request => "req_",
            IdKind::ReviewDecision => "rvd_",
            IdKind::Session => "ses_",
            IdKind::Subscription => "sub_",
            IdKind::UnattributedDeposit => "udp_",
            IdKind::User => "usr_",
        }
    }
}

/// Hands out the time part of ids so that ids of one process rise strictly, also within a millisecond
/// and when the clock steps back.
#[derive(Debug, Default)]
pub struct Sequence {
    ms: i64,
    step: u16,
}

impl Sequence {
    pub fn next(&mut self, now_ms: i64) -> (i64, u16) {
        if now_ms > self.ms {
            (self.ms, self.step) = (now_ms, 0);
        } else if self.step < 0xfff {
            self.step += 1;
        } else {
            (self.ms, self.step) = (self.ms + 1, 0);
        }
        (self.ms, self.step)
    }
}

/// UUIDv7: 48 bits of milliseconds, 12 bits of step, 62 bits of randomness.
pub fn make(kind: IdKind, ms: i64, step: u16, random: u64) -> String {
    let high =
        ((ms.max(0).cast_unsigned() & 0xffff_ffff_ffff) << 16) | 0x7000 | u64::from(step & 0xfff);
    let low = (random >> 2) | (0b10 << 62);
    let value = (u128::from(high) << 64) | u128::from(low);
    let mut text = String::with_capacity(6 + BODY_CHARS);
    text.push_str(kind.prefix());
    for place in (0..BODY_CHARS).rev() {
        let digit = (value >> (5 * place)) & 31;
        text.push(char::from(ALPHABET[usize::try_from(digit).unwrap_or(0)]));
    }
    text
}

/// When an id was made, in milliseconds; nothing where the text is no id.
pub fn time_of(text: &str) -> Option<i64> {
    let (_, body) = text.rsplit_once('_')?;
    let digit = |byte: u8| ALPHABET.iter().position(|of| *of == byte);
    // 26 digits are 130 bits: the first ten hold two bits of nothing and the 48 bits of the time.
    let first = body
        .as_bytes()
        .get(..10)
        .filter(|_| body.len() == BODY_CHARS)?;
    let mut value: i64 = 0;
    for byte in first {
        value = value.checked_mul(32)? + i64::try_from(digit(*byte)?).ok()?;
    }
    Some(value)
}

/// Whether the text has the form of an id of this kind; a cheap filter before a look-up.
pub fn is(kind: IdKind, text: &str) -> bool {
    text.strip_prefix(kind.prefix())
        .is_some_and(|body| body.len() == BODY_CHARS && body.bytes().all(|b| ALPHABET.contains(&b)))
}

/// Lower-case base 32 of random bytes, for keys and tokens.
pub fn token(random: &[u8]) -> String {
    let mut text = String::with_capacity(random.len() * 8 / 5 + 1);
    let (mut held, mut bits) = (0u32, 0u32);
    for byte in random {
        held = (held << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[((held >> bits) & 31) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[((held << (5 - bits)) & 31) as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_when_it_was_made() {
        let made = make(IdKind::User, 1_700_000_000_123, 7, u64::MAX);
        assert_eq!(time_of(&made), Some(1_700_000_000_123));
        for text in ["", "usr_", "usr_x", "usr_uuuuuuuuuuuuuuuuuuuuuuuuuu"] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }

    #[test]
    fn ids_sort_as_they_were_made() {
        let mut sequence = Sequence::default();
        let mut made = Vec::new();
        for now in [5, 5, 5, 9, 8, 8, 10] {
            let (ms, step) = sequence.next(now);
            made.push(make(
                IdKind::Invoice,
                ms,
                step,
                u64::MAX - made.len() as u64 * 7919,
            ));
        }
        let mut sorted = made.clone();
        sorted.sort();
        assert_eq!(made, sorted);
        assert!(made.iter().all(|id| is(IdKind::Invoice, id)));
    }

    #[test]
    fn a_full_millisecond_spills_into_the_next() {
        let mut sequence = Sequence::default();
        let last = (0..5000).map(|_| sequence.next(7)).last();
        assert_eq!(last, Some((8, 5000 - 4096 - 1)));
    }

    #[test]
    fn foreign_forms_are_not_ids() {
        for bad in [
            "",
            "inv_",
            "inv_1",
            "pay_00000000000000000000000000",
            "inv_0000000000000000000000000u",
        ] {
            assert!(!is(IdKind::Invoice, bad), "{bad}");
        }
    }

    #[test]
    fn a_token_spells_every_bit() {
        assert_eq!(token(&[0xff; 5]), "zzzzzzzz");
        assert_eq!(token(&[0, 1]).len(), 4);
        assert_ne!(token(&[0, 1]), token(&[0, 2]));
    }
}
