//! `till listen`: an account's test events on a developer's machine, as webhooks signed with a secret of their own.

use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use sha2::{Digest as _, Sha256};
use till_core::id::{self, IdKind};
use till_core::webhook::{new_secret, sign};
use till_engine::base::clock::Clock as _;
use till_http::client::{Call, HttpClient};
use url::Url;

use super::follower::{Follower, Item};
use crate::api_client::{ApiArgs, ApiClient};
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

/// A receiver of webhooks has ten seconds.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Between two attempts at a receiver that is not there: it is being restarted.
const RECEIVER_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct Listen {
    /// Where events are sent
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Begin after this event, instead of now
    #[arg(long, value_name = "EVENT")]
    after: Option<String>,
    #[command(flatten)]
    api: ApiArgs,
}

pub async fn run(listen: &Listen) -> Result<(), Failure> {
    let receiver = Url::parse(&listen.forward_to).ok();
    let receiver = receiver.filter(|url| matches!(url.scheme(), "http" | "https"));
    let unusable = "--forward-to must be an address such as http://127.0.0.1:3000/webhooks";
    let receiver = receiver.ok_or_else(|| Failure::Usage(unusable.to_owned()))?;
    let api = ApiClient::of_test_mode(&listen.api)?;
    let mut events = match &listen.after {
        Some(after) if !id::is(IdKind::Event, after) => {
            return Err(Failure::Usage(
                "--after must be an event's id, evt_…".to_owned(),
            ));
        }
        Some(after) => Follower::after(IdKind::Event, "/v1/events", after.clone()),
        None => Follower::from_now(&api, IdKind::Event, "/v1/events").await?,
    };
    let forward = Forward::new(receiver, secret_for(api.key()))?;
    output::print(&format!(
        "Signing secret  {}\nIt is the same whenever this key listens. Waiting for events.\n",
        forward.secret
    ))?;
    loop {
        for event in events.next(&api, |_| true).await? {
            forward.send(&event).await?;
            events.took(&event.id);
        }
    }
}

/// Nobody can work out the key from it, and who has the key need not configure anything anew.
fn secret_for(key: &str) -> String {
    new_secret(Sha256::digest(format!("till listen\0{key}")).into())
}

struct Forward {
    http: HttpClient,
    receiver: Url,
    secret: String,
    clock: SystemClock,
}

impl Forward {
    fn new(receiver: Url, secret: String) -> Result<Forward, Failure> {
        let http =
            HttpClient::new(ANSWER_TIME).map_err(|error| Failure::new(format!("TLS: {error}")))?;
        Ok(Forward {
            http,
            receiver,
            secret,
            clock: SystemClock::start(),
        })
    }

    /// Sends an event until somebody answers: a receiver that is being restarted misses nothing, and none overtakes another.
    async fn send(&self, event: &Item) -> Result<(), Failure> {
        let event_type = event.json["type"].as_str().unwrap_or_default();
        let mut is_said = false;
        loop {
            let body = Bytes::copy_from_slice(event.raw.get().as_bytes());
            let signature = sign(&[&self.secret], self.clock.now_ms() / 1_000, &body);
            let headers = [
                ("content-type", "application/json"),
                ("x-service-signature", &*signature),
                ("x-service-event-id", &*event.id),
                ("x-service-event-type", event_type),
            ];
            let sent = Call {
                method: "POST",
                url: &self.receiver,
                headers: &headers,
                body,
            };
            let begun = self.clock.monotonic_us();
            match self.http.send(sent).await {
                Ok(reply) => {
                    let took_ms = self.clock.monotonic_us().saturating_sub(begun) / 1_000;
                    let line = format!(
                        "{event_type}  {}  {} in {took_ms} ms\n",
                        event.id, reply.status
                    );
                    return output::print(&line);
                }
                Err(error) => {
                    if !is_said {
                        eprintln!("till: {event_type} {}: {error}; trying again", event.id);
                        is_said = true;
                    }
                    tokio::time::sleep(RECEIVER_PAUSE).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_secret_and_another_key_another() {
        let secret = secret_for("till_test_sk_a");
        assert_eq!(secret, secret_for("till_test_sk_a"));
        assert_ne!(secret, secret_for("till_test_sk_b"));
        assert!(secret.starts_with("whsec_") && !secret.contains("sk_a"));
    }
}
