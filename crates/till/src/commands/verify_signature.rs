//! `till verify-signature`: whether a webhook's signature is right, for whoever writes a receiver and wonders.

use std::io::Read as _;
use std::path::PathBuf;

use clap::Args;
use till_core::webhook::{VerifyError, verify};
use till_engine::base::clock::Clock as _;

use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

#[derive(Debug, Args)]
pub struct VerifySignature {
    /// The value of x-service-signature
    #[arg(long, value_name = "HEADER")]
    signature: String,
    /// The webhook secret
    #[arg(long, env = "TILL_WEBHOOK_SECRET", hide_env_values = true)]
    secret: String,
    /// The body, byte for byte; standard input without it
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// How old a signature may be
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    tolerance: u32,
}

pub fn run(asked: &VerifySignature) -> Result<(), Failure> {
    let body = body(asked)?;
    let now_s = SystemClock::start().now_ms() / 1_000;
    let tolerance_s = i64::from(asked.tolerance);
    let judged = verify(&asked.signature, &body, &asked.secret, now_s, tolerance_s);
    judged.map_err(|error| Failure::new(explanation(error, asked, &body)))?;
    output::print("the signature is right\n")
}

fn body(asked: &VerifySignature) -> Result<Vec<u8>, Failure> {
    let unreadable = |error: std::io::Error| Failure::new(format!("the body: {error}"));
    match &asked.body {
        Some(path) => std::fs::read(path).map_err(unreadable),
        None => {
            let mut body = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut body);
            read.map_err(unreadable).map(|_| body)
        }
    }
}

/// What is wrong, and where to look.
fn explanation(error: VerifyError, asked: &VerifySignature, body: &[u8]) -> String {
    let at_any_time = verify(&asked.signature, body, &asked.secret, 0, i64::MAX);
    let hint = match error {
        VerifyError::Malformed => "it must read t=<unix seconds>,v1=<hex>",
        VerifyError::Stale if at_any_time.is_ok() => {
            "body and secret are right; was it sent again, or is a clock wrong?"
        }
        VerifyError::Stale => "and neither body nor secret fit it",
        VerifyError::Mismatch if fits_without_line_break(asked, body) => {
            "the body ends with a line break that the webhook did not have"
        }
        VerifyError::Mismatch => "the secret is another, or the body is not the bytes that arrived",
    };
    format!("{error}: {hint}")
}

/// An editor or a shell may have added it.
fn fits_without_line_break(asked: &VerifySignature, body: &[u8]) -> bool {
    let cut = body.strip_suffix(b"\n");
    let cut = cut.map(|cut| cut.strip_suffix(b"\r").unwrap_or(cut));
    cut.is_some_and(|cut| verify(&asked.signature, cut, &asked.secret, 0, i64::MAX).is_ok())
}

#[cfg(test)]
mod tests {
    use till_core::webhook::sign;

    use super::*;

    #[test]
    fn a_failure_says_where_to_look() {
        let asked = |signature: &str| VerifySignature {
            signature: signature.to_owned(),
            secret: "whsec_1".to_owned(),
            body: None,
            tolerance: 300,
        };
        let old = asked(&sign(&["whsec_1"], 1_000, b"{}"));
        assert!(explanation(VerifyError::Stale, &old, b"{}").contains("body and secret are right"));
        assert!(explanation(VerifyError::Stale, &old, b"{ }").contains("neither"));
        assert!(explanation(VerifyError::Mismatch, &old, b"{}\n").contains("line break"));
        assert!(explanation(VerifyError::Mismatch, &old, b"{}\r\n").contains("line break"));
        for other in [&b"{ }"[..], b"{ }\n"] {
            assert!(explanation(VerifyError::Mismatch, &old, other).contains("another"));
        }
        assert!(explanation(VerifyError::Malformed, &asked(""), b"").contains("v1=<hex>"));
    }
}
