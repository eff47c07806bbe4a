//! Several endpoints of one chain: which of them may be asked, what enough of them agree on, and what can be proven.
//! Nothing here knows the database, an invoice or a lease, and nothing here knows how a chain writes things down.

pub mod amount_arrived;
mod claims;
mod disputes;
mod endpoint;
mod endpoint_tips;
mod fork;
pub mod headers;
mod heads;
mod height_at;
mod hints;
mod holdings;
mod identity;
mod latecomers;
mod logs;
mod mempool;
mod news;
mod nodes;
pub mod our_transfers;
mod pool;
mod proof;
mod quorum;
mod registers;
mod rounds;
#[cfg(test)]
mod scripted;
mod settings;
mod tips;
mod unconfirmed;
mod update;
mod watching;

pub use claims::{Answers, Claim, ClaimQuestion, Verdict, decide};
pub use disputes::Disputes;
pub use endpoint::{Endpoint, Exclusion, Progress};
pub use endpoint_tips::EndpointTips;
pub use fork::{ForkPoint, KnownChain, blame_dissenters, last_shared};
pub use heads::{Head, agreed_head};
pub use height_at::height_at;
pub use hints::Hints;
pub use holdings::{AgreedBalances, Holdings};
pub use identity::{identify_all, still_on_it};
pub use latecomers::first_answers;
pub use logs::{EndpointLogs, Span, proven, read_all, read_logs};
pub use mempool::{Mempool, MempoolChanges};
pub use news::listen;
pub use nodes::Nodes;
pub use pool::{EndpointTrouble, Pool, block_of};
pub use quorum::{QuorumAnswer, first_agreed};
pub use registers::names;
pub use rounds::{Rounds, ask_all};
pub use settings::{EndpointSettings, WatchSettings};
pub use tips::{Chain, agreed_tips, going_on};
pub use unconfirmed::Unconfirmed;
pub use update::{ChainUpdate, SeenTransfer, Tip};
pub use watching::{WatchedNetwork, WatchedSet, WatchedUpTo, Watching};
