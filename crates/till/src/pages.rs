//! The web pages that are part of this program; `build.rs` put them there.

use till_api::{Files, Pages};

const CHECKOUT: Files = include!(concat!(env!("OUT_DIR"), "/checkout.rs"));

/// What payers open. Empty when it was not built before this program was.
pub fn checkout() -> Pages {
    Pages::new(CHECKOUT)
}
