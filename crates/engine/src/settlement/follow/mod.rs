//! What follows an invoice. A follower writes its own rows and announces; it never calls `settle`.

pub mod lease;
pub mod link_unit;
pub mod receipt;
