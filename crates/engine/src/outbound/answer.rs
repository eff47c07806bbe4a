//! What came back, cut to what is worth keeping.

use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::client::legacy;
use tokio::time::error::Elapsed;

use super::connect::ConnectError;

/// Kept of the answer's body.
const STORED_BYTES_MAX: usize = 1024;
/// Read of the answer's body. A little more than is kept, because a body read to its end leaves the
/// connection usable; beyond this the connection is given up instead.
const READ_BYTES_MAX: usize = 4 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub status_code: Option<u16>,
    /// At most 1 KiB of valid UTF-8 without NUL, whatever was sent.
    pub response_body: String,
    /// Why it was not delivered, for the merchant to read.
    pub error: Option<String>,
    pub delivered: bool,
}

impl Outcome {
    pub(super) fn not_sent(error: String) -> Outcome {
        Outcome {
            status_code: None,
            response_body: String::new(),
            error: Some(error),
            delivered: false,
        }
    }
}

#[derive(Default)]
pub(super) struct Answer {
    status: Option<StatusCode>,
    body: Vec<u8>,
    cut: bool,
}

impl Answer {
    /// A body that breaks off does not matter: the status is the acknowledgement.
    pub(super) async fn read(&mut self, response: Response<Incoming>) {
        self.status = Some(response.status());
        let mut body = response.into_body();
        let mut read_bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            let Some(data) = frame.data_ref() else {
                continue;
            };
            read_bytes += data.len();
            let room = STORED_BYTES_MAX - self.body.len();
            self.body.extend_from_slice(&data[..data.len().min(room)]);
            self.cut |= data.len() > room;
            if read_bytes >= READ_BYTES_MAX {
                break;
            }
        }
    }

    pub(super) fn into_outcome(self, end: Result<Result<(), legacy::Error>, Elapsed>) -> Outcome {
        let error = match (end, self.status) {
            (Err(_), None) => Some("timed out waiting for an answer".to_owned()),
            (Err(_), Some(_)) => Some("timed out reading the answer".to_owned()),
            (Ok(Err(error)), _) => Some(till_net::describe::<ConnectError>(&error)),
            (Ok(Ok(())), Some(status)) if status.is_redirection() => {
                Some("redirect not followed".to_owned())
            }
            (Ok(Ok(())), Some(status)) if !status.is_success() => {
                Some(format!("answered with status {}", status.as_u16()))
            }
            (Ok(Ok(())), _) => None,
        };
        Outcome {
            status_code: self.status.map(|status| status.as_u16()),
            response_body: readable(&self.body, self.cut),
            delivered: error.is_none(),
            error,
        }
    }
}

/// NUL is replaced because PostgreSQL cannot store it in text.
fn readable(body: &[u8], cut: bool) -> String {
    let whole = match std::str::from_utf8(body) {
        // Our own cut may have split the last character, which is no fault of the answer.
        Err(error) if cut && error.error_len().is_none() => &body[..error.valid_up_to()],
        _ => body,
    };
    let mut text = String::from_utf8_lossy(whole).replace('\0', "\u{fffd}");
    // Replacing can make it longer than what was read.
    text.truncate(text.floor_char_boundary(STORED_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_split_by_our_cut_is_dropped_and_a_broken_one_is_marked() {
        assert_eq!(readable("café".as_bytes(), false), "café");
        assert_eq!(readable(b"caf\xc3", true), "caf");
        assert_eq!(readable(b"caf\xc3", false), "caf\u{fffd}");
    }

    #[test]
    fn nul_and_invalid_bytes_become_replacement_characters_within_one_kibibyte() {
        assert_eq!(readable(b"a\0b\xffc", false), "a\u{fffd}b\u{fffd}c");
        let text = readable(&[0; STORED_BYTES_MAX], true);
        assert_eq!(text.len(), STORED_BYTES_MAX - 1);
        assert!(text.chars().all(|c| c == '\u{fffd}'));
    }
}
