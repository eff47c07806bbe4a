//! What follows an invoice. A follower writes its own rows; it never calls `settle`.

pub mod binding;
pub mod credit;
pub mod lease;
pub mod link_unit;
pub mod period;
pub mod receipt;
pub mod refund;
pub mod subscription;
pub mod timer;

use till_core::invoice::Status;
use till_store::Write;

use super::facts::LockedInvoice;
use crate::base::Context;
use crate::base::fail::Fail;

/// A settled invoice, as its followers see it.
pub(super) struct Follower<'s> {
    pub(super) context: &'s Context<'s>,
    pub(super) held: &'s LockedInvoice,
    /// When it happens, in business time.
    pub(super) at: i64,
    /// Some step on the way made it wait again, whatever came after.
    pub(super) waited: bool,
}

impl Follower<'_> {
    fn status(&self) -> Status {
        self.held.invoice.is.status
    }

    /// Its status before all that changed.
    fn before(&self) -> Status {
        let stored = self.held.invoice.stored();
        stored.map_or(self.status(), |stored| stored.status)
    }

    fn is_closed(&self) -> bool {
        self.held.invoice.is.closed_at.is_some()
    }

    fn was_closed(&self) -> bool {
        let stored = self.held.invoice.stored();
        stored.map_or(self.is_closed(), |stored| stored.closed_at.is_some())
    }

    fn has_closed(&self) -> bool {
        self.is_closed() && (self.waited || !self.was_closed())
    }

    fn has_reopened(&self) -> bool {
        !self.is_closed() && self.was_closed()
    }

    fn is_paid_now(&self) -> bool {
        self.status().is_paid() && !self.before().is_paid()
    }
}

pub(super) fn writes(settled: &[Follower<'_>]) -> Result<Vec<Write>, Fail> {
    let mut writes = Vec::new();
    writes.extend(binding::writes(settled));
    writes.push(lease::writes(settled)?);
    writes.extend(link_unit::writes(settled));
    writes.extend(receipt::writes(settled));
    writes.extend(refund::writes(settled)?);
    writes.push(timer::write(settled));
    writes.push(credit::write(settled));
    Ok(writes)
}
