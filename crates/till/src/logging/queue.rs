//! Lines on their way to whoever reads the log.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

/// As many lines as a busy server writes in a second or two.
const LINES_MAX: usize = 8_192;
/// A reader that stands still does not keep a server from ending.
const FLUSH_TIME: Duration = Duration::from_secs(1);
const FLUSH_TRIES: u32 = 100;

enum Item {
    Lines(Vec<u8>),
    /// Says so when everything before it is written.
    Flush(SyncSender<()>),
}

/// Never waits: what does not fit is lost, and counted.
#[derive(Clone)]
pub struct Queue {
    items: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

impl Queue {
    pub fn start(to: impl Write + Send + 'static) -> io::Result<Queue> {
        Queue::with_room(to, LINES_MAX)
    }

    fn with_room(to: impl Write + Send + 'static, lines: usize) -> io::Result<Queue> {
        let (items, waiting) = sync_channel(lines);
        let lost: Arc<AtomicU64> = Arc::default();
        let counted = Arc::clone(&lost);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_all(&waiting, to, &counted))?;
        Ok(Queue { items, lost })
    }

    pub fn add(&self, lines: &[u8]) {
        if !lines.is_empty() && self.items.try_send(Item::Lines(lines.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("till_log_lines_lost_total").increment(1);
        }
    }

    /// Waits until what was added is written, for a moment.
    pub fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        for _ in 0..FLUSH_TRIES {
            match self.items.try_send(Item::Flush(done.clone())) {
                Ok(()) => {
                    is_done.recv_timeout(FLUSH_TIME).ok();
                    return;
                }
                // Nothing is answered yet: this is how long there may be no room for the question.
                Err(TrySendError::Full(_)) => drop(is_done.recv_timeout(FLUSH_TIME / FLUSH_TRIES)),
                Err(TrySendError::Disconnected(_)) => return,
            }
        }
    }
}

fn write_all(items: &Receiver<Item>, mut to: impl Write, lost: &AtomicU64) {
    for item in items {
        match item {
            // A closed log is no reason to stop taking payments.
            Item::Lines(lines) => drop(to.write_all(&lines)),
            Item::Flush(done) => drop(done.send(())),
        }
        // There is room for this line: one was taken out just now.
        let count = lost.swap(0, Ordering::Relaxed);
        if count > 0 {
            tracing::warn!(
                count,
                "lines of the log were lost because whoever reads it stood still; let it read faster, or log less (log.level)"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// Says when it is given the first line, and writes nothing before it is told to.
    struct Stalled {
        arrived: SyncSender<()>,
        go_on: Receiver<()>,
        is_going: bool,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.is_going {
                self.arrived.send(()).ok();
                self.go_on.recv().ok();
                self.is_going = true;
            }
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stands_still_loses_lines_and_holds_nobody_up() {
        let (go_on, stalled) = channel();
        let (arrived, has_arrived) = sync_channel(1);
        let written: Arc<Mutex<Vec<u8>>> = Arc::default();
        let to = Stalled {
            arrived,
            go_on: stalled,
            is_going: false,
            written: Arc::clone(&written),
        };
        let queue = Queue::with_room(to, 4).unwrap();
        queue.add(b"0\n");
        has_arrived.recv().unwrap();
        for line in 1..100 {
            queue.add(format!("{line}\n").as_bytes());
        }
        assert_eq!(queue.lost.load(Ordering::Relaxed), 95);
        go_on.send(()).unwrap();
        queue.flush();
        let written = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(written, "0\n1\n2\n3\n4\n");
        assert_eq!(queue.lost.load(Ordering::Relaxed), 0, "it was told");
    }
}
