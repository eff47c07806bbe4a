//! That something is still going on, for whoever waits for it: a line that counts the seconds on a terminal, and a line every
//! ten seconds elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::pin::pin;
use std::time::Duration;

/// How often it is said, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Terminal,
    Lines,
}

impl Manner {
    fn every_s(self) -> u64 {
        match self {
            Manner::Terminal => 1,
            Manner::Lines => 10,
        }
    }

    fn line(self, what: &str, seconds: u64) -> String {
        match self {
            Manner::Terminal => format!("\r\u{1b}[Ktill: {what}: {seconds} s"),
            Manner::Lines => format!("till: {what}: {seconds} s so far\n"),
        }
    }
}

/// Does the work, and says on standard error that it is not done yet.
pub async fn during<T>(what: &str, work: impl Future<Output = T>) -> T {
    let manner = match io::stderr().is_terminal() {
        true => Manner::Terminal,
        false => Manner::Lines,
    };
    let print = |text: &str| {
        let mut out = io::stderr().lock();
        // Whoever closed standard error does not want to know.
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .ok();
    };
    told(manner, what, work, print).await
}

async fn told<T>(
    manner: Manner,
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
                if manner == Manner::Terminal && seconds > 0 {
                    print("\r\u{1b}[K");
                }
                return done;
            }
            () = tokio::time::sleep(Duration::from_secs(manner.every_s())) => {
                seconds += manner.every_s();
                print(&manner.line(what, seconds));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_takes_long_says_so_now_and_then_and_what_does_not_says_nothing() {
        let said = RefCell::new(Vec::new());
        let print = |text: &str| said.borrow_mut().push(text.to_owned());
        let work = tokio::time::sleep(Duration::from_secs(25));
        told(Manner::Lines, "checking", work, print).await;
        assert_eq!(
            said.take(),
            [
                "till: checking: 10 s so far\n",
                "till: checking: 20 s so far\n"
            ]
        );
        let work = tokio::time::sleep(Duration::from_millis(2_500));
        told(Manner::Terminal, "checking", work, print).await;
        assert_eq!(said.take().len(), 3, "two seconds, and the line is cleared");
        told(Manner::Terminal, "checking", async {}, print).await;
        assert!(said.take().is_empty());
    }
}
