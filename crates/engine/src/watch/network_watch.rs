//! A network that is watched, and the server that watches it.

use std::ops::Deref;

use till_watch::Pool;

use crate::base::Engine;

#[derive(Clone, Copy)]
pub(super) struct NetworkWatch<'e> {
    pub(super) engine: &'e Engine,
    pub(super) pool: Pool<'e>,
}

impl<'e> NetworkWatch<'e> {
    /// One of the networks that are watched, by its place among them.
    pub(super) fn of(engine: &'e Engine, place: usize) -> Option<NetworkWatch<'e>> {
        let watching = engine.watching.as_ref()?;
        Some(NetworkWatch {
            engine,
            pool: Pool::of(watching, &*engine.clock, place)?,
        })
    }
}

impl<'e> Deref for NetworkWatch<'e> {
    type Target = Pool<'e>;

    fn deref(&self) -> &Pool<'e> {
        &self.pool
    }
}
