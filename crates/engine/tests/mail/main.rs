//! Mail: who gets one, and that it arrives, through a real SMTP server.

mod smtp;
mod transport;
