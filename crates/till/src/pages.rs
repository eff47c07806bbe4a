//! The web pages that are part of this program; `build.rs` put them there.

use till_api::{CarriedPages, Files, Pages};

const CHECKOUT: Files = include!(concat!(env!("OUT_DIR"), "/checkout.rs"));
const DASHBOARD: Files = include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));
const BUTTON: Files = include!(concat!(env!("OUT_DIR"), "/button.rs"));

/// What payers open. Empty when it was not built before this program was.
pub fn checkout() -> Pages {
    Pages::new(CHECKOUT)
}

/// What payers open, what merchants open, and what shops include.
pub fn all() -> CarriedPages {
    CarriedPages {
        checkout: checkout(),
        dashboard: Pages::new(DASHBOARD),
        button: Pages::new(BUTTON),
    }
}
