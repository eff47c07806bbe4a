//! Lockouts: attempts are counted over a sliding time, and too many of them are refused for a while.

use std::net::Ipv6Addr;

use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Origin;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::time::{HOUR_MS, MINUTE_MS, SECOND_MS};
use till_store::attempts::AttemptRow;
use till_store::{Queries, Tx};

use crate::base::Engine;
use crate::base::fail::Fail;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Links asked for, by the address they go to.
    LinksToAddress,
    /// Links asked for, by who asks.
    LinksByClient,
    SignUpsByClient,
    /// Invitations that are mailed, by the address they go to.
    InvitesToAddress,
    /// The same, by who invites.
    InvitesByUser,
    /// New organisations, by who makes them.
    OrganizationsByUser,
    /// Wrong codes, by the user.
    WrongCodes,
    /// Wrong tokens and failed ceremonies, by who sent them.
    FailuresByClient,
}

struct Limit {
    name: &'static str,
    most: i64,
    window_ms: i64,
    code: Code,
}

impl Counted {
    fn limit(self) -> Limit {
        let (name, most, window_ms) = match self {
            Counted::LinksToAddress => ("links_to_address", 5, HOUR_MS),
            Counted::LinksByClient => ("links_by_client", 20, HOUR_MS),
            Counted::SignUpsByClient => ("sign_ups_by_client", 5, HOUR_MS),
            Counted::InvitesToAddress => ("invites_to_address", 5, HOUR_MS),
            Counted::InvitesByUser => ("invites_by_user", 50, HOUR_MS),
            Counted::OrganizationsByUser => ("organizations_by_user", 10, HOUR_MS),
            Counted::WrongCodes => ("wrong_codes", 5, 15 * MINUTE_MS),
            Counted::FailuresByClient => ("failures_by_client", 20, 15 * MINUTE_MS),
        };
        let code = match self {
            Counted::SignUpsByClient => Code::TooManySignups,
            _ => Code::TooManyAttempts,
        };
        Limit {
            name,
            most,
            window_ms,
            code,
        }
    }

    fn subject(self, engine: &Engine, who: &str) -> Vec<u8> {
        let counted = format!("{}/{who}", self.limit().name);
        engine.vault.tag("attempts", counted.as_bytes()).into()
    }
}

/// What limits count a client by: its address, of IPv6 its network, in which anybody has as many as they like.
pub fn client_of(origin: &Origin) -> String {
    let ip = origin.ip.as_deref().unwrap_or_default();
    match ip.parse::<Ipv6Addr>() {
        Ok(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            Ipv6Addr::from(network).to_string()
        }
        Err(_) => ip.to_owned(),
    }
}

/// Refuses while there were too many, and says when the next one is welcome.
pub async fn check(
    q: &mut impl Queries,
    engine: &Engine,
    counted: Counted,
    who: &str,
) -> Result<(), Fail> {
    let (limit, now) = (counted.limit(), engine.clock.now_ms());
    let subject = counted.subject(engine, who);
    let since = now - limit.window_ms;
    let latest = till_store::attempts::latest(q, &subject, since, limit.most).await?;
    let is_full = i64::try_from(latest.len()).is_ok_and(|count| count >= limit.most);
    match latest.last() {
        Some(oldest) if is_full => {
            let wait_s = (oldest + limit.window_ms - now + SECOND_MS - 1) / SECOND_MS;
            let wait_s = u32::try_from(wait_s.max(1)).unwrap_or(u32::MAX);
            Err(Refusal::of(limit.code).retry_after(wait_s).into())
        }
        _ => Ok(()),
    }
}

/// Counts one more, or refuses: of several at once no more than the limit.
pub async fn take(tx: &mut Tx, engine: &Engine, counted: Counted, who: &str) -> Result<(), Fail> {
    let (subject, now) = (counted.subject(engine, who), engine.clock.now_ms());
    till_store::attempts::lock_subject(tx, &subject, now).await?;
    check(tx, engine, counted, who).await?;
    count(tx, engine, counted, who).await.map(drop)
}

/// Counts one more, and gives back its id.
pub async fn count(
    tx: &mut Tx,
    engine: &Engine,
    counted: Counted,
    who: &str,
) -> Result<String, Fail> {
    let attempt = AttemptRow {
        subject: counted.subject(engine, who),
        at: engine.clock.now_ms(),
        id: engine.ids.make(IdKind::Request),
    };
    till_store::attempts::insert(tx, &attempt).await?;
    Ok(attempt.id)
}

/// Refuses a client that sent too many wrong tokens.
pub async fn check_client(engine: &Engine, client: &str) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    check(&mut reader, engine, Counted::FailuresByClient, client).await
}

/// Counts a token that turned out to be wrong, in a unit of work of its own.
pub async fn count_wrong<T>(
    engine: &Engine,
    client: &str,
    found: Result<T, Fail>,
) -> Result<T, Fail> {
    let is_wrong =
        matches!(&found, Err(Fail::Refused(refusal)) if refusal.code == Code::InviteInvalid);
    if is_wrong {
        let counted = engine.db.write(move |tx: &mut Tx| {
            async move { count(tx, engine, Counted::FailuresByClient, client).await }.scope_boxed()
        });
        counted.await?;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_an_address_or_a_network_of_ipv6() {
        let of = |ip: &str| {
            let ip = Some(ip.to_owned());
            client_of(&Origin {
                ip,
                ..Origin::default()
            })
        };
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("2001:db8:1:2::"), of("2001:db8:1:2:ffff::1"));
        assert_eq!(client_of(&Origin::default()), "");
    }
}
