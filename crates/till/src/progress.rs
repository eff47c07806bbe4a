//! That something is still going on, for whoever waits for it: a line that counts the seconds on a terminal, and a line every
//! ten seconds elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::pin::pin;
use std::time::Duration;

/// How often it is said, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgressStyle {
    Terminal,
    Lines,
}

impl ProgressStyle {
    fn every_s(self) -> u64 {
        match self {
            ProgressStyle::Terminal => 1,
            ProgressStyle::Lines => 10,
        }
    }

    fn line(self, what: &str, seconds: u64) -> String {
        match self {
            ProgressStyle::Terminal => format!("\r\u{1b}[Ktill: {what}: {seconds} s"),
            ProgressStyle::Lines => format!("till: {what}: {seconds} s so far\n"),
        }
    }
}

/// Does the work, and says on standard error that it is not done yet.
pub async fn during<T>(what: &str, work: impl Future<Output = T>) -> T {
    let manner = match io::stderr().is_terminal() {
        true => ProgressStyle::Terminal,
        false => ProgressStyle::Lines,
    };
    let print = |text: &str| {
        let mut out = io::stderr().lock();
        // Whoever closed standard error does not want to know.
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .ok();
    };
    let every = Duration::from_secs(manner.every_s());
    told((manner, every), what, work, print).await
}

async fn told<T>(
    (manner, every): (ProgressStyle, Duration),
    what: &str,
    work: impl Future<Output = T>,
    print: impl Fn(&str),
) -> T {
    let mut work = pin!(work);
    let mut seconds = 0;
    loop {
        tokio::select! {
            biased;
            done = work.as_mut() => {
                if manner == ProgressStyle::Terminal && seconds > 0 {
                    print("\r\u{1b}[K");
                }
                return done;
            }
            () = tokio::time::sleep(every) => {
                seconds += manner.every_s();
                print(&manner.line(what, seconds));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn what_takes_long_says_so_now_and_then_and_what_does_not_says_nothing() {
        let (said, is_told) = (RefCell::new(Vec::new()), Notify::new());
        let print = |text: &str| {
            said.borrow_mut().push(text.to_owned());
            if said.borrow().len() == 2 {
                is_told.notify_one();
            }
        };
        let soon = Duration::from_millis(1);
        told(
            (ProgressStyle::Lines, soon),
            "checking",
            is_told.notified(),
            print,
        )
        .await;
        assert_eq!(
            said.take(),
            [
                "till: checking: 10 s so far\n",
                "till: checking: 20 s so far\n"
            ]
        );
        told(
            (ProgressStyle::Terminal, soon),
            "checking",
            is_told.notified(),
            print,
        )
        .await;
        assert_eq!(said.take().len(), 3, "two seconds, and the line is cleared");
        told((ProgressStyle::Terminal, soon), "checking", async {}, print).await;
        assert!(said.take().is_empty());
    }
}
