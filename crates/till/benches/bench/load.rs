//! The load: keep-alive connections that write requests byte by byte and read of the answers only what is
//! needed, because they share the machine with what they measure.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Res;

/// Writes the request with this number.
pub type Write = Arc<dyn Fn(u64, &mut Vec<u8>) + Send + Sync>;

/// What is asked, and which status every answer must have.
#[derive(Clone)]
pub struct Work {
    pub address: SocketAddr,
    pub write: Write,
    pub status: u16,
    pub keep: Keep,
}

/// What is kept of the answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Nothing,
    InvoiceIds,
}

#[derive(Default)]
pub struct Done {
    pub per_second: u64,
    pub latencies_us: Vec<u64>,
    pub ids: Vec<String>,
}

impl Done {
    pub fn percentile_us(&mut self, percent: usize) -> u64 {
        self.latencies_us.sort_unstable();
        let last = self.latencies_us.len().saturating_sub(1);
        let at = self.latencies_us.len() * percent / 100;
        self.latencies_us.get(at.min(last)).copied().unwrap_or(0)
    }
}

pub struct Client {
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Res<Client> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        Ok(Client {
            socket,
            buffer: Vec::with_capacity(8 * 1024),
        })
    }

    /// The status and the body.
    pub async fn exchange(&mut self, request: &[u8]) -> Res<(u16, &[u8])> {
        self.socket.write_all(request).await?;
        self.buffer.clear();
        let head = self.read_until(head_end).await?;
        let length = content_length(&self.buffer[..head]).ok_or("an answer without a length")?;
        self.read_until(|buffer| (buffer.len() >= head + length).then_some(0))
            .await?;
        let status = std::str::from_utf8(&self.buffer[9..12])?.parse()?;
        Ok((status, &self.buffer[head..head + length]))
    }

    /// The status of an answer that does not end, such as a stream.
    pub async fn open(&mut self, request: &[u8]) -> Res<u16> {
        self.socket.write_all(request).await?;
        self.buffer.clear();
        self.read_until(head_end).await?;
        Ok(std::str::from_utf8(&self.buffer[9..12])?.parse()?)
    }

    async fn read_until(&mut self, found: impl Fn(&[u8]) -> Option<usize>) -> Res<usize> {
        loop {
            if let Some(at) = found(&self.buffer) {
                return Ok(at);
            }
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server hung up".into());
            }
        }
    }
}

pub fn head_end(buffer: &[u8]) -> Option<usize> {
    let at = buffer.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(at + 4)
}

pub fn content_length(head: &[u8]) -> Option<usize> {
    let text = header(head, b"content-length")?;
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

pub fn header<'h>(head: &'h [u8], name: &[u8]) -> Option<&'h [u8]> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        line[..colon]
            .eq_ignore_ascii_case(name)
            .then(|| line[colon + 1..].trim_ascii())
    })
}

/// Each client asks again as soon as it was answered. What happens in `warm` is not counted.
pub async fn closed(work: &Work, clients: usize, warm: Duration, time: Duration) -> Res<Done> {
    let number = Arc::new(AtomicU64::new(0));
    let from = Instant::now() + warm;
    let until = from + time;
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        let (work, number) = (work.clone(), Arc::clone(&number));
        tasks.spawn(async move {
            let mut client = Client::connect(work.address).await?;
            let (mut done, mut request) = (Done::default(), Vec::new());
            loop {
                let sent = Instant::now();
                if sent >= until {
                    return Ok(done);
                }
                work.ask(&mut client, &number, &mut request, &mut done)
                    .await?;
                let now = Instant::now();
                if now >= from && now < until {
                    done.latencies_us.push(micros(now - sent));
                }
            }
        });
    }
    let mut done = joined(tasks).await?;
    done.per_second = per_second(done.latencies_us.len(), time);
    Ok(done)
}

/// Requests at a fixed rate, whether or not the last were answered: what waited counts as waiting.
pub async fn paced(work: &Work, clients: usize, rate_per_s: u64, time: Duration) -> Res<Done> {
    let number = Arc::new(AtomicU64::new(0));
    let start = Instant::now() + Duration::from_millis(100);
    let gap = Duration::from_secs(1).div_ceil_by(rate_per_s);
    let mut tasks = JoinSet::new();
    for index in 0..clients {
        let (work, number) = (work.clone(), Arc::clone(&number));
        tasks.spawn(async move {
            let mut client = Client::connect(work.address).await?;
            let (mut done, mut request) = (Done::default(), Vec::new());
            let mut turn = u32::try_from(index)?;
            loop {
                let due = start + gap * turn;
                if due >= start + time {
                    return Ok(done);
                }
                tokio::time::sleep_until(due.into()).await;
                work.ask(&mut client, &number, &mut request, &mut done)
                    .await?;
                done.latencies_us.push(micros(due.elapsed()));
                turn += u32::try_from(clients)?;
            }
        });
    }
    let mut done = joined(tasks).await?;
    done.per_second = per_second(done.latencies_us.len(), time);
    Ok(done)
}

impl Work {
    async fn ask(
        &self,
        client: &mut Client,
        number: &AtomicU64,
        request: &mut Vec<u8>,
        done: &mut Done,
    ) -> Res<()> {
        request.clear();
        (self.write)(number.fetch_add(1, Ordering::Relaxed), request);
        let (status, body) = client.exchange(request).await?;
        if status != self.status {
            let body = String::from_utf8_lossy(body);
            return Err(format!("answered {status}: {body}").into());
        }
        if self.keep == Keep::InvoiceIds {
            done.ids.extend(invoice_id(body));
        }
        Ok(())
    }
}

fn invoice_id(body: &[u8]) -> Option<String> {
    let rest = body.strip_prefix(b"{\"id\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    String::from_utf8(rest[..end].to_vec()).ok()
}

async fn joined(mut tasks: JoinSet<Res<Done>>) -> Res<Done> {
    let mut all = Done::default();
    while let Some(done) = tasks.join_next().await {
        let done = done??;
        all.latencies_us.extend(done.latencies_us);
        all.ids.extend(done.ids);
    }
    Ok(all)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

pub fn per_second(count: usize, time: Duration) -> u64 {
    let count = u128::try_from(count).unwrap_or(u128::MAX);
    u64::try_from(count * 1_000_000 / time.as_micros().max(1)).unwrap_or(u64::MAX)
}

trait Divided {
    fn div_ceil_by(self, by: u64) -> Duration;
}

impl Divided for Duration {
    fn div_ceil_by(self, by: u64) -> Duration {
        let nanos = self.as_nanos().div_ceil(u128::from(by.max(1)));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
