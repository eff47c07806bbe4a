//! Who gets a connection: so many in all, so many for one client, and a few kept back for those who only ask how we are.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ipnet::IpNet;

use super::client_addr::limit_key;

/// Kept back for health: a server that is full must still be able to say that it is up.
pub const HEALTH_CONNECTIONS: usize = 16;
/// Of those, for one client.
const HEALTH_CONNECTIONS_PER_CLIENT: usize = 8;

#[derive(Clone, Debug)]
pub struct AdmissionLimits {
    /// What the listener is called in metrics.
    pub listener: &'static str,
    pub connections: usize,
    pub connections_per_client: usize,
    /// Each of them stands for many clients.
    pub trusted_proxies: Vec<IpNet>,
}

pub struct Admission {
    limits: AdmissionLimits,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    whole: HashMap<IpAddr, usize>,
    whole_total: usize,
    health: HashMap<IpAddr, usize>,
    health_total: usize,
}

/// What a connection may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Anything,
    /// For health alone, once; this is why.
    Health(Refused),
}

/// A counted connection, given back when dropped.
pub struct Ticket {
    admission: Arc<Admission>,
    client: IpAddr,
    pub what_for: Use,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This client has too many.
    Client,
    /// All of them together.
    Everybody,
}

impl Admission {
    pub fn new(limits: AdmissionLimits) -> Arc<Admission> {
        Arc::new(Admission {
            limits,
            open: Mutex::default(),
        })
    }

    pub fn admit(self: &Arc<Admission>, peer: IpAddr) -> Result<Ticket, Refused> {
        let client = limit_key(peer);
        let peer = peer.to_canonical();
        let is_proxy = self
            .limits
            .trusted_proxies
            .iter()
            .any(|net| net.contains(&peer));
        let ticket = |what_for| Ticket {
            admission: Arc::clone(self),
            client,
            what_for,
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let held = open.whole.get(&client).copied().unwrap_or(0);
        let has_too_many = !is_proxy && held >= self.limits.connections_per_client;
        let is_full = open.whole_total >= self.limits.connections;
        if !has_too_many && !is_full {
            *open.whole.entry(client).or_default() += 1;
            open.whole_total += 1;
            self.count(open.whole_total);
            return Ok(ticket(Use::Anything));
        }
        let asking = open.health.get(&client).copied().unwrap_or(0);
        let refused = match has_too_many {
            true => Refused::Client,
            false => Refused::Everybody,
        };
        let may_ask = is_proxy || asking < HEALTH_CONNECTIONS_PER_CLIENT;
        if may_ask && open.health_total < HEALTH_CONNECTIONS {
            *open.health.entry(client).or_default() += 1;
            open.health_total += 1;
            return Ok(ticket(Use::Health(refused)));
        }
        Err(refused)
    }

    fn leave(&self, client: IpAddr, what_for: Use) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = &mut *open;
        let (by_client, total) = match what_for {
            Use::Anything => (&mut open.whole, &mut open.whole_total),
            Use::Health(_) => (&mut open.health, &mut open.health_total),
        };
        *total -= 1;
        if what_for == Use::Anything {
            self.count(*total);
        }
        if let Some(held) = by_client.get_mut(&client) {
            *held -= 1;
            if *held == 0 {
                by_client.remove(&client);
            }
        }
    }

    fn count(&self, open: usize) {
        let listener = self.limits.listener;
        metrics::gauge!("till_http_connections_open", "listener" => listener).set(as_gauge(open));
    }

    /// How many are open, of any use.
    pub fn open(&self) -> usize {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.whole_total + open.health_total
    }
}

fn as_gauge(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.admission.leave(self.client, self.what_for);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: usize, connections_per_client: usize) -> Arc<Admission> {
        Admission::new(AdmissionLimits {
            listener: "api",
            connections,
            connections_per_client,
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        })
    }

    fn from(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    fn admitted(admission: &Arc<Admission>, peer: IpAddr) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        while let Ok(ticket) = admission.admit(peer) {
            tickets.push(ticket);
        }
        tickets
    }

    fn whole(tickets: &[Ticket]) -> usize {
        let whole = tickets.iter().filter(|one| one.what_for == Use::Anything);
        whole.count()
    }

    #[test]
    fn one_client_cannot_have_them_all() {
        let admission = admission(100, 10);
        let greedy = admitted(&admission, from(1));
        assert_eq!(whole(&greedy), 10);
        assert_eq!(greedy[10].what_for, Use::Health(Refused::Client));
        assert_eq!(admission.admit(from(1)).err(), Some(Refused::Client));
        assert_eq!(whole(&admitted(&admission, from(2))), 10);
        drop(greedy);
        assert_eq!(whole(&admitted(&admission, from(1))), 10);
    }

    #[test]
    fn a_full_server_still_says_how_it_is() {
        let admission = admission(20, 10);
        let held = [from(1), from(2)].map(|peer| {
            let tickets = (0..10).map(|_| admission.admit(peer).unwrap());
            tickets.collect::<Vec<_>>()
        });
        let asking = admission.admit(from(3)).unwrap();
        assert_eq!(asking.what_for, Use::Health(Refused::Everybody));
        drop(asking);
        assert_eq!(
            admitted(&admission, from(3)).len(),
            HEALTH_CONNECTIONS_PER_CLIENT
        );
        drop(held);
        assert_eq!(admission.admit(from(3)).unwrap().what_for, Use::Anything);
        assert_eq!(admission.open(), 0);
    }

    #[test]
    fn a_proxy_stands_for_many_clients() {
        let admission = admission(100, 10);
        let proxied = admitted(&admission, IpAddr::from([10, 0, 0, 1]));
        assert_eq!(whole(&proxied), 100);
    }

    #[test]
    fn what_was_given_back_is_forgotten() {
        let admission = admission(100, 10);
        for number in 0..100 {
            drop(admission.admit(from(number)).unwrap());
        }
        assert!(admission.open.lock().unwrap().whole.is_empty());
    }
}
