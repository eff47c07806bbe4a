//! The signature of an event, against vectors that other languages read too.

use proptest::prelude::*;
use serde::Deserialize;
use till_core::webhook::{SIGNATURE_TOLERANCE_S, VerifyError, new_secret, sign, verify};

#[derive(Deserialize)]
struct Vectors {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    secrets: Vec<String>,
    timestamp_s: i64,
    body: String,
    header: String,
}

fn vectors() -> Vec<Vector> {
    let text = include_str!("../../../testdata/webhook_vectors.json");
    let read: Vectors = serde_json::from_str(text).expect("the vectors are JSON");
    assert!(!read.vectors.is_empty());
    read.vectors
}

const SECRET: &str = "whsec_one";
const NOW_S: i64 = 1_767_225_600;

#[test]
fn signatures_match_the_golden_vectors() {
    for vector in vectors() {
        let secrets: Vec<&str> = vector.secrets.iter().map(String::as_str).collect();
        let header = sign(&secrets, vector.timestamp_s, vector.body.as_bytes());
        assert_eq!(header, vector.header, "{}", vector.name);
        for secret in secrets {
            let now_s = vector.timestamp_s;
            let verified = verify(&header, vector.body.as_bytes(), secret, now_s, 0);
            assert_eq!(verified, Ok(()), "{}", vector.name);
        }
    }
}

#[test]
fn a_signature_is_stale_beyond_the_tolerance_in_both_directions() {
    let header = sign(&[SECRET], NOW_S, b"{}");
    let at = |now_s| verify(&header, b"{}", SECRET, now_s, SIGNATURE_TOLERANCE_S);
    assert_eq!(at(NOW_S + 300), Ok(()));
    assert_eq!(at(NOW_S - 300), Ok(()));
    assert_eq!(at(NOW_S + 301), Err(VerifyError::Stale));
    assert_eq!(at(NOW_S - 301), Err(VerifyError::Stale));
    assert_eq!(at(i64::MIN), Err(VerifyError::Stale));
}

#[test]
fn another_secret_body_or_time_does_not_verify() {
    let header = sign(&[SECRET], NOW_S, b"{}");
    let mismatch = Err(VerifyError::Mismatch);
    assert_eq!(verify(&header, b"{}", "whsec_two", NOW_S, 300), mismatch);
    assert_eq!(verify(&header, b"{} ", SECRET, NOW_S, 300), mismatch);
    let moved = header.replace(&format!("t={NOW_S}"), &format!("t={}", NOW_S + 1));
    assert_eq!(verify(&moved, b"{}", SECRET, NOW_S, 300), mismatch);
    // The prefix is part of the key.
    assert_eq!(verify(&header, b"{}", "one", NOW_S, 300), mismatch);
}

#[test]
fn while_a_secret_is_rolled_each_of_the_two_verifies_and_the_new_one_is_first() {
    let header = sign(&["whsec_new", "whsec_old"], NOW_S, b"{}");
    assert!(header.starts_with(&sign(&["whsec_new"], NOW_S, b"{}")));
    assert_eq!(header.matches("v1=").count(), 2);
    assert_eq!(verify(&header, b"{}", "whsec_new", NOW_S, 300), Ok(()));
    assert_eq!(verify(&header, b"{}", "whsec_old", NOW_S, 300), Ok(()));
    assert_eq!(
        verify(&header, b"{}", "whsec_older", NOW_S, 300),
        Err(VerifyError::Mismatch)
    );
}

#[test]
fn other_schemes_and_broken_values_are_ignored_beside_a_good_one() {
    let good = sign(&[SECRET], NOW_S, b"{}");
    let header = format!("v0=abc,{good},v1=nothex,v1=00,v2=,x");
    assert_eq!(verify(&header, b"{}", SECRET, NOW_S, 300), Ok(()));
}

#[test]
fn a_header_without_exactly_one_time_is_malformed() {
    for header in ["", "v1=00", "t=,v1=00", "t=x,v1=00", "t=1,t=1,v1=00"] {
        let verified = verify(header, b"", SECRET, 1, 300);
        assert_eq!(verified, Err(VerifyError::Malformed), "{header:?}");
    }
}

#[test]
fn a_secret_spells_out_all_of_its_randomness() {
    assert_eq!(new_secret([0xab; 32]), format!("whsec_{}", "ab".repeat(32)));
}

proptest! {
    #[test]
    fn what_is_signed_verifies(secret in ".{0,80}", now_s in any::<i64>(), body in any::<Vec<u8>>()) {
        let header = sign(&[&secret], now_s, &body);
        prop_assert_eq!(verify(&header, &body, &secret, now_s, 0), Ok(()));
    }

    #[test]
    fn arbitrary_headers_never_verify_and_never_panic(header in any::<String>()) {
        let verified = verify(&header, b"body", SECRET, NOW_S, 300);
        prop_assert!(verified.is_err());
    }
}
