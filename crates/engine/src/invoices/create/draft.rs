//! Requests to create invoices, and the invoices that come of them.

use till_core::asset::Family;
use till_core::invoice::Deposit;
use till_core::scope::Scope;

use crate::base::fail::Fail;
use crate::base::{Answer, Context};
use crate::invoices::pending_request::PendingRequest;
use crate::invoices::quote::{NewInvoice, Quote};
use crate::once::Once;

/// One request among those created together.
#[derive(Clone, Debug)]
pub struct CreateInvoice {
    pub scope: Scope,
    pub once: Once,
    pub request: NewInvoice,
    pub wanted: PendingRequest,
}

/// An invoice that will be written.
pub(super) struct Draft<'a> {
    /// Which of the requests it answers.
    pub(super) index: usize,
    pub(super) context: &'a Context<'a>,
    pub(super) request: &'a NewInvoice,
    pub(super) quote: Quote,
    pub(super) id: String,
    /// One address for each family of its options that could be taken ahead.
    pub(super) deposits: Vec<(Family, Deposit)>,
    /// The families whose addresses are allocated by the unit of work that leases them.
    pub(super) scarce: Vec<Family>,
}

pub(super) type Answered = (usize, Result<Answer, Fail>);
