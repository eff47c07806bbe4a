//! What every room stands on, and that knows none of the things Till is about.

mod answer;
mod change;
pub mod clock;
mod context;
mod engine;
pub mod fail;
pub mod feeds;
mod merchant;
pub mod numbers;
pub mod prices;
pub mod readiness;
pub mod supervise;
mod unit;
pub mod unit_limiter;
pub mod vault;
pub mod wake;

pub use answer::Answer;
pub use change::Change;
pub use context::Context;
pub use engine::{DashboardConfig, Engine, EngineConfig, EngineLimits, Retention, Signup};
pub use fail::Fail;
pub use merchant::{Merchant, not_configured};
pub use wake::{Effects, Stopping};
