//! Workers, with several servers on one database.

mod webhooks;
mod world;
