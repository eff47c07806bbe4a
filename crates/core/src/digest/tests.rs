//! Digests, with every byte that others may rely on written out.

use super::*;

fn entry() -> Entry {
    Entry {
        entry: "jrn_01".into(),
        created_at: time::show(1_794_712_419_123),
        kind: "receipt".into(),
        invoice: Some("inv_01".into()),
        subject: "pay_01".into(),
        step: 1,
        reverses: None,
        asset: "USDC@eip155:84532".into(),
        lines: vec![
            EntryLine {
                line: 0,
                debit: "received".into(),
                credit: "overpaid".into(),
                amount: "5".into(),
            },
            EntryLine {
                line: 1,
                debit: "received".into(),
                credit: "settled".into(),
                amount: "25000000".into(),
            },
        ],
    }
}

/// Never changes: what was signed once is checked years later.
const LINE: &str = r#"{"entry":"jrn_01","created_at":"2026-11-15T03:13:39.123Z","kind":"receipt","invoice":"inv_01","subject":"pay_01","step":1,"reverses":null,"asset":"USDC@eip155:84532","lines":[{"line":0,"debit":"received","credit":"overpaid","amount":"5"},{"line":1,"debit":"received","credit":"settled","amount":"25000000"}]}"#;
const DAY: i64 = 20_772;

fn key() -> SigningKey {
    SigningKey::from_seed(&[7; 32])
}

fn covered() -> Covered {
    let mut sum = Sum::after(NO_ROOT).unwrap();
    sum.add("jrn_01", LINE);
    sum.add("jrn_02", "{}");
    sum.end()
}

fn presented() -> Presented {
    let covered = covered();
    Presented {
        account: "acct_01".into(),
        mode: "live".into(),
        day: DAY,
        previous: NO_ROOT.into(),
        key_id: key_id(&key().public_key()).unwrap(),
        signature: key().sign("acct_01", "live", DAY, &covered.root),
        covered,
    }
}

#[test]
fn an_entry_is_always_written_the_same_way() {
    assert_eq!(entry().canonical().unwrap(), LINE);
}

#[test]
fn a_root_is_the_hash_of_the_root_before_and_the_lines() {
    let mut hash = Sha256::new();
    hash.update([0; 32]);
    hash.update(format!("{LINE}\n{{}}\n"));
    let covered = covered();
    assert_eq!(covered.root, hex::encode(hash.finalize()));
    assert_eq!(
        covered.root,
        "bc1eb65f571fa816f481e3e1ff21e8bf79a6027c7b53b9e49975c8b5c29ffc55"
    );
    assert_eq!(covered.entries, 2);
    assert_eq!(
        (&*covered.first_entry, &*covered.last_entry),
        ("jrn_01", "jrn_02")
    );
    assert!(Sum::after("00").is_none());
}

#[test]
fn what_is_signed_and_the_signature_never_change() {
    let message = message("acct_01", "live", DAY, NO_ROOT);
    let expected = format!("till ledger digest v1\nacct_01\nlive\n2026-11-15\n{NO_ROOT}\n");
    assert_eq!(message, expected);
    assert_eq!(
        key().public_key(),
        "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c"
    );
    let found = (
        key_id(&key().public_key()).unwrap(),
        key().sign("acct_01", "live", DAY, NO_ROOT),
    );
    assert_eq!(found.0, "fe812c12f3ab4ce6");
    assert_eq!(
        found.1,
        "eaa34d8578205229646d032a866a02b3623ae0010554fbda9f31215d44d9a2a7\
         168e29e3a81a8d03e5575be606acd3351852ec632ca68d98e7f318c47d3fb606"
    );
}

#[test]
fn a_digest_fits_what_it_was_made_of_and_nothing_else() {
    let keys = [key().public_key()];
    let whole = presented();
    let of = |presented: &Presented| check(presented, Some(NO_ROOT), &covered(), &keys);
    assert_eq!(of(&whole), Ok(()));
    assert_eq!(check(&whole, None, &covered(), &keys), Ok(()));
    let misfit = |change: &dyn Fn(&mut Presented)| {
        let mut changed = whole.clone();
        change(&mut changed);
        of(&changed).unwrap_err()
    };
    assert_eq!(misfit(&|it| it.previous = "1".repeat(64)), Misfit::Chain);
    assert_eq!(misfit(&|it| it.covered.entries = 3), Misfit::Entries);
    assert_eq!(
        misfit(&|it| it.covered.root = "1".repeat(64)),
        Misfit::Entries
    );
    assert_eq!(
        misfit(&|it| it.covered.last_entry = "jrn_01".into()),
        Misfit::Entries
    );
    assert_eq!(misfit(&|it| it.key_id = "x".into()), Misfit::Key);
    assert_eq!(
        misfit(&|it| it.account = "acct_02".into()),
        Misfit::Signature
    );
    assert_eq!(misfit(&|it| it.mode = "test".into()), Misfit::Signature);
    assert_eq!(misfit(&|it| it.day += 1), Misfit::Signature);
    assert_eq!(
        misfit(&|it| it.signature = "0".repeat(128)),
        Misfit::Signature
    );
    assert_eq!(
        misfit(&|it| it.signature = "no digits".into()),
        Misfit::Signature
    );
    let other = SigningKey::from_seed(&[8; 32]).public_key();
    assert_eq!(
        check(&whole, Some(NO_ROOT), &covered(), &[other]),
        Err(Misfit::Key)
    );
}

#[test]
fn what_is_no_public_key_has_no_name() {
    for bad in ["", "ab", &"zz".repeat(32), &key().public_key()[2..]] {
        assert_eq!(key_id(bad), None, "{bad}");
    }
}
