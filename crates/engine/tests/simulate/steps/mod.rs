//! What can happen, each as likely as its weight.

pub mod ask;
mod choose;
pub mod create;
mod follow;
mod ops;
mod payers;
pub mod quiet;
mod wallets;
mod work;

pub use ops::Touched;

use crate::tape::Part;
use crate::world::{Check, World};

#[derive(Clone, Copy, Debug)]
enum Step {
    Create,
    RetryKey,
    Transfer,
    Mine,
    Finalise,
    Reorganise,
    FlipBack,
    BreakFinality,
    Lead,
    Follow,
    Thaw,
    EmptyAddress,
    SimulatePayment,
    ReversePayment,
    Cancel,
    Review,
    Settings,
    RollSecret,
    AdvanceTestClock,
    AdvanceRealClock,
    Timers,
    Deliver,
    Replay,
    Mood,
    Sweep,
    NewLink,
    ChangeLink,
    LinkInvoice,
    Pick,
    Bind,
    PayByWallet,
    AskAgain,
}

impl Step {
    /// Whether it is about the merchant that is drawn with it, and no other.
    fn is_of_one_merchant(self) -> bool {
        !matches!(
            self,
            Step::Create
                | Step::RetryKey
                | Step::Mine
                | Step::Finalise
                | Step::Reorganise
                | Step::FlipBack
                | Step::BreakFinality
                | Step::Lead
                | Step::Follow
                | Step::Thaw
                | Step::Review
                | Step::AdvanceRealClock
                | Step::Timers
                | Step::Deliver
                | Step::Sweep
                | Step::AskAgain
        )
    }
}

const WEIGHTS: &[(u64, Step)] = &[
    (14, Step::Create),
    (4, Step::RetryKey),
    (16, Step::Transfer),
    (9, Step::Mine),
    (9, Step::Finalise),
    (4, Step::Reorganise),
    (2, Step::FlipBack),
    (1, Step::BreakFinality),
    (3, Step::Lead),
    (36, Step::Follow),
    (3, Step::Thaw),
    (3, Step::EmptyAddress),
    (4, Step::SimulatePayment),
    (2, Step::ReversePayment),
    (5, Step::Cancel),
    (7, Step::Review),
    (4, Step::Settings),
    (1, Step::RollSecret),
    (4, Step::AdvanceTestClock),
    (5, Step::AdvanceRealClock),
    (5, Step::Timers),
    (6, Step::Deliver),
    (1, Step::Replay),
    (3, Step::Mood),
    (1, Step::Sweep),
    (3, Step::NewLink),
    (3, Step::ChangeLink),
    (9, Step::LinkInvoice),
    (7, Step::Pick),
    (9, Step::Bind),
    (8, Step::PayByWallet),
    (2, Step::AskAgain),
];

/// One seed in four has weather: chains are replaced, final blocks among them, and fewer other things happen, so that what
/// was credited before its block was final meets a reorganisation often.
const STORM: &[(u64, Step)] = &[
    (10, Step::Create),
    (22, Step::Transfer),
    (14, Step::Mine),
    (14, Step::Finalise),
    (12, Step::Reorganise),
    (6, Step::FlipBack),
    (3, Step::BreakFinality),
    (3, Step::Lead),
    (50, Step::Follow),
    (5, Step::Thaw),
    (3, Step::EmptyAddress),
    (2, Step::Cancel),
    (4, Step::Review),
    (2, Step::AdvanceTestClock),
    (3, Step::AdvanceRealClock),
    (3, Step::Timers),
    (4, Step::Deliver),
    (2, Step::NewLink),
    (2, Step::LinkInvoice),
    (2, Step::Pick),
    (5, Step::Bind),
    (6, Step::PayByWallet),
];

pub async fn step(world: &mut World) -> Check {
    let weights = if world.is_stormy { STORM } else { WEIGHTS };
    let step = world.rng.weighted(weights);
    let m = world.rng.below(world.model.merchants.len());
    if step.is_of_one_merchant() && !world.rng.keeps(Part::Of(m)) {
        return Ok(());
    }
    match step {
        Step::Create => create::create(world).await,
        Step::RetryKey => create::retry(world).await,
        Step::Transfer => {
            choose::transfer(world, m);
            Ok(())
        }
        Step::Mine | Step::Finalise | Step::Reorganise | Step::FlipBack | Step::BreakFinality => {
            choose::move_chain(world, step);
            Ok(())
        }
        Step::EmptyAddress => {
            choose::empty_address(world, m);
            Ok(())
        }
        Step::Lead => match follow::lead(world) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::Follow => match follow::follow(world) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::Thaw => match follow::thaw(world) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::SimulatePayment => work::simulate_payment(world, m).await,
        Step::ReversePayment => match choose::reversal(world, m) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::Cancel => match choose::cancel(world, m) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::Review => match choose::review(world) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::Settings => {
            let op = choose::settings(world, m);
            ops::perform(world, op).await
        }
        Step::RollSecret => work::roll_secret(world, m).await,
        Step::AdvanceTestClock => match choose::advance(world, m) {
            Some(op) => ops::perform(world, op).await,
            None => Ok(()),
        },
        Step::AdvanceRealClock => {
            work::advance_real_clock(world);
            Ok(())
        }
        Step::Timers => work::timers(world).await,
        Step::Deliver => work::deliver(world).await,
        Step::Replay => work::replay(world, m).await,
        Step::Mood => {
            work::mood(world, m);
            Ok(())
        }
        Step::Sweep => work::sweep(world).await,
        Step::NewLink => payers::new_link(world, m).await,
        Step::ChangeLink => payers::change_link(world, m).await,
        Step::LinkInvoice => payers::link_invoice(world, m).await,
        Step::Pick => payers::pick(world, m).await,
        Step::Bind => wallets::bind(world, m).await,
        Step::PayByWallet => {
            wallets::pay_by_wallet(world, m);
            Ok(())
        }
        Step::AskAgain => ask::again(world).await,
    }
}
