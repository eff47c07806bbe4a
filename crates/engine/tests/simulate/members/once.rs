//! I30: what works once. Each link, invitation, ceremony, code and confirmation that was answered with a yes is kept here.

use std::collections::BTreeSet;

use crate::world::Check;

#[derive(Debug, Default)]
pub struct Once(BTreeSet<String>);

impl Once {
    /// It was taken, for the first time.
    pub fn take(&mut self, what: String) -> Check {
        match self.0.contains(&what) {
            true => Err(format!("a second time: {what}")),
            false => {
                self.0.insert(what);
                Ok(())
            }
        }
    }
}
