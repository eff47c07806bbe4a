//! What every room stands on, and that knows none of the things Till is about.

mod answer;
pub mod asker;
mod change;
pub mod clock;
mod context;
mod engine;
pub mod fail;
pub mod feeds;
pub mod key_uses;
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
pub use asker::Asker;
pub use change::Change;
pub use context::Context;
pub use engine::{
    DashboardConfig, Engine, EngineConfig, EngineLimits, FinalDepths, Retention, Signup,
};
pub use fail::Fail;
pub use merchant::{Merchant, not_configured};
pub use wake::{Effects, Stopping};
