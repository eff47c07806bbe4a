//! Answers of POSTs.

use bytes::Bytes;

use super::fail::Fail;

/// A finished answer: what is sent now and, under the same idempotency key, ever after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: Bytes,
    pub replayed: bool,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Bytes>) -> Answer {
        Answer {
            status,
            body: body.into(),
            replayed: false,
        }
    }

    pub fn json(status: u16, value: &impl serde::Serialize) -> Result<Answer, Fail> {
        Ok(Answer::new(
            status,
            serde_json::to_vec(value).map_err(Fail::broken)?,
        ))
    }
}
