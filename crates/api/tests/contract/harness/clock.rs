//! Real time, moved forward or stopped where a test says so.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use till_engine::base::clock::{Clock, Followed};

pub struct TestClock {
    started: Instant,
    started_ms: i64,
    ahead_ms: AtomicI64,
    /// How much older everything is than it seems.
    aged_us: AtomicU64,
    stopped: AtomicBool,
    follows: AtomicBool,
    shared: Followed,
}

impl TestClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "somebody must know what time it is, and a test server has no system.rs"
    )]
    pub fn new() -> TestClock {
        let since_epoch = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .expect("after 1970");
        TestClock {
            started: Instant::now(),
            started_ms: i64::try_from(since_epoch.as_millis()).expect("before the year 9999"),
            ahead_ms: AtomicI64::new(0),
            aged_us: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            follows: AtomicBool::new(false),
            shared: Followed::default(),
        }
    }

    pub fn advance_s(&self, seconds: i64) {
        self.ahead_ms.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    /// What is kept for a while is older by so much, whatever the time of day.
    pub fn age_s(&self, seconds: u64) {
        self.aged_us
            .fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    /// From here on only `advance_s` moves it: nothing falls due while a slow machine is thinking.
    pub fn stop(&self) {
        let now_ms = self.now_ms();
        self.stopped.store(true, Ordering::SeqCst);
        self.ahead_ms
            .store(now_ms - self.started_ms, Ordering::SeqCst);
    }

    /// From here on it goes by PostgreSQL's clock as a server does, and `advance_s` sets the machine's alone.
    pub fn let_follow(&self) {
        self.follows.store(true, Ordering::SeqCst);
    }

    pub fn now_s(&self) -> i64 {
        self.now_ms() / 1_000
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        let shared = self.shared.now_ms(self.monotonic_us());
        shared.unwrap_or_else(|| self.machine_ms())
    }

    fn machine_ms(&self) -> i64 {
        let passed_ms = if self.stopped.load(Ordering::SeqCst) {
            0
        } else {
            i64::try_from(self.started.elapsed().as_millis()).expect("a short test")
        };
        self.started_ms + passed_ms + self.ahead_ms.load(Ordering::SeqCst)
    }

    fn monotonic_us(&self) -> u64 {
        let passed_us = u64::try_from(self.started.elapsed().as_micros()).expect("a short test");
        passed_us + self.aged_us.load(Ordering::SeqCst)
    }

    fn follow(&self, shared_ms: i64) {
        if self.follows.load(Ordering::SeqCst) {
            self.shared.tell(shared_ms, self.monotonic_us());
        }
    }
}
