//! Mail: who gets one, and that it arrives, through a real SMTP server.

mod reminders;
mod rules;
mod sending;
mod smtp;
mod team;
mod transport;
mod world;
