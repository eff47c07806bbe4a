//! How a receiver knows that an event came from us: an HMAC over the time of sending and the exact
//! bytes of the body.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum VerifyError {
    #[error("the signature header is malformed")]
    Malformed,
    #[error("the signature is too old or from the future")]
    Stale,
    #[error("no signature matches")]
    Mismatch,
}

/// The value of the signature header, one `v1` per secret in the order given. While a rolled secret
/// is still honoured there are two, the new one first.
pub fn sign(secrets: &[&str], timestamp_s: i64, body: &[u8]) -> String {
    let mut header = format!("t={timestamp_s}");
    for secret in secrets {
        header.push_str(",v1=");
        header.push_str(&hex::encode(
            mac(secret, timestamp_s, body).finalize().into_bytes(),
        ));
    }
    header
}

/// What a receiver does with the header, for our own tests and as the reference for integrations.
pub fn verify(
    header: &str,
    body: &[u8],
    secret: &str,
    now_s: i64,
    tolerance_s: i64,
) -> Result<(), VerifyError> {
    let mut timestamp_s = None;
    let mut signatures = Vec::new();
    for part in header.split(',') {
        match part.trim().split_once('=') {
            Some(("t", value)) => {
                let value = value.parse().map_err(|_| VerifyError::Malformed)?;
                if timestamp_s.replace(value).is_some() {
                    return Err(VerifyError::Malformed);
                }
            }
            // A v1 that is not hexadecimal matches nothing, which must not hide one that does.
            Some(("v1", value)) => signatures.extend(hex::decode(value)),
            _ => {}
        }
    }
    let timestamp_s: i64 = timestamp_s.ok_or(VerifyError::Malformed)?;
    if now_s.abs_diff(timestamp_s) > tolerance_s.max(0).unsigned_abs() {
        return Err(VerifyError::Stale);
    }
    let expected = mac(secret, timestamp_s, body);
    // `verify_slice` compares in constant time.
    if signatures
        .iter()
        .any(|signature| expected.clone().verify_slice(signature).is_ok())
    {
        Ok(())
    } else {
        Err(VerifyError::Mismatch)
    }
}

/// A webhook secret; the randomness comes from the caller.
pub fn new_secret(random: [u8; 32]) -> String {
    format!("whsec_{}", hex::encode(random))
}

fn mac(secret: &str, timestamp_s: i64, body: &[u8]) -> Hmac<Sha256> {
    // The key is the secret as the merchant sees it, prefix and all.
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(timestamp_s.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    mac
}
