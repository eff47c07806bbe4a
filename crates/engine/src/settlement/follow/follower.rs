//! A settled invoice, as its followers see it.

use till_core::invoice::Status;

use crate::base::Context;
use crate::settlement::facts::LockedInvoice;

/// A settled invoice, as its followers see it.
pub(in crate::settlement) struct Follower<'s> {
    pub(in crate::settlement) context: &'s Context<'s>,
    pub(in crate::settlement) held: &'s LockedInvoice,
    /// When it happens, in business time.
    pub(in crate::settlement) at: i64,
    /// Some step on the way made it wait again, whatever came after.
    pub(in crate::settlement) waited: bool,
}

impl Follower<'_> {
    pub(super) fn status(&self) -> Status {
        self.held.invoice.is.status
    }

    /// Its status before all that changed.
    pub(super) fn before(&self) -> Status {
        let stored = self.held.invoice.stored();
        stored.map_or(self.status(), |stored| stored.status)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.held.invoice.is.closed_at.is_some()
    }

    pub(super) fn was_closed(&self) -> bool {
        let stored = self.held.invoice.stored();
        stored.map_or(self.is_closed(), |stored| stored.closed_at.is_some())
    }

    pub(super) fn has_closed(&self) -> bool {
        self.is_closed() && (self.waited || !self.was_closed())
    }

    pub(super) fn has_reopened(&self) -> bool {
        !self.is_closed() && self.was_closed()
    }

    pub(super) fn is_paid_now(&self) -> bool {
        self.status().is_paid() && !self.before().is_paid()
    }
}
