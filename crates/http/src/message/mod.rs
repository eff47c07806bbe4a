//! Messages: requests read strictly, answers and errors in one shape.

pub mod answer;
pub mod body;
pub mod credentials;
pub mod fields;
pub mod idempotency;
pub mod json;
pub mod query;
pub mod read;
pub mod scrub;
