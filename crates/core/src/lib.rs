pub mod error;
pub mod limits;
