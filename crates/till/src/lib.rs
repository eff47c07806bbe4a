//! The top floor: configuration and composition. The binary beside it only reads the command line.

pub mod config;
