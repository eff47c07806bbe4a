//! Workers: timers, the test clock, what is put aside, and the order of webhooks, with several servers on one database.

mod clock;
mod digests;
mod exposed;
mod flooded;
mod isolation;
mod leading;
mod orders;
mod quarantine;
mod remined;
mod rerouted;
mod resent;
mod retention;
mod sharing;
mod stress;
mod subscriptions;
mod timers;
mod together;
mod unread;
mod waiting;
mod webhooks;
mod world;
