//! Workers: timers, the test clock, and the order of webhooks, with several servers on one database.

mod clock;
mod stress;
mod timers;
mod waiting;
mod webhooks;
mod world;
