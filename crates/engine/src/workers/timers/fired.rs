//! What becomes of timers that are fired together.

/// What became of timers that were handed over together.
pub(super) struct Fired {
    /// How many of them, from the first, were looked at.
    pub(super) seen: usize,
    /// How many of these were still there to be fired.
    pub(super) taken: usize,
}
