//! The load: orders are taken and paid, at whichever server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::api::Api;
use super::ledger::Ledger;
use super::servers::Servers;
use crate::Res;

const MERCHANTS: usize = 6;
const PAUSE: Duration = Duration::from_millis(60);

pub struct Shop {
    addresses: Vec<SocketAddr>,
    key: String,
}

impl Shop {
    pub async fn open(servers: &Servers, key: String, hooks: &str) -> Res<Shop> {
        let shop = Shop {
            addresses: servers.addresses(),
            key,
        };
        let mut api = shop.api();
        let settings = json!({ "webhook_url": hooks });
        let request = api.post("/v1/merchant/settings", "hooks", &settings);
        let answer = api.insist(0, &request).await?;
        match answer.status {
            200 => Ok(shop),
            status => {
                Err(format!("the settings were answered with {status}: {}", answer.body).into())
            }
        }
    }

    pub fn api(&self) -> Api {
        Api::new(&self.addresses, &self.key)
    }

    /// Goes on until it is ended.
    pub fn load(&self, cycle: usize, ledger: Arc<Ledger>) -> Load {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for number in 0..MERCHANTS {
            let merchant = Merchant {
                api: self.api(),
                ledger: Arc::clone(&ledger),
                name: format!("{}{number}", prefix(cycle)),
                number,
            };
            tasks.spawn(merchant.trade(Arc::clone(&is_over)));
        }
        Load { is_over, tasks }
    }
}

/// What the names of a cycle's orders begin with.
pub fn prefix(cycle: usize) -> String {
    format!("cycle-{cycle}-")
}

pub struct Load {
    is_over: Arc<AtomicBool>,
    tasks: JoinSet<Res<()>>,
}

impl Load {
    /// What is under way is brought to its end.
    pub async fn end(mut self) -> Res<()> {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        Ok(())
    }
}

struct Merchant {
    api: Api,
    ledger: Arc<Ledger>,
    name: String,
    number: usize,
}

impl Merchant {
    async fn trade(mut self, is_over: Arc<AtomicBool>) -> Res<()> {
        let mut turn = 0;
        while !is_over.load(Ordering::Relaxed) {
            turn += 1;
            if let Err(error) = self.order(turn).await {
                self.ledger.wrong(error.to_string());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Every third is not paid.
    async fn order(&mut self, turn: usize) -> Res<()> {
        let name = format!("{}-{turn}", self.name);
        let server = self.number + turn;
        let order = json!({
            "amount": "25.00", "currency": "USD", "customer_ref": name, "assets": ["USDC@eip155:84532"],
        });
        let create = self.api.post("/v1/invoices", &name, &order);
        let created = self.insist(server, &create, 201).await?;
        let invoice = created.0["id"].as_str().unwrap_or_default().to_owned();
        self.ledger.created(&name, &invoice, created.1);
        if turn.is_multiple_of(3) {
            // Asked again, another server says the same.
            let (again, _) = self.insist(server + 1, &create, 201).await?;
            if again["id"] != invoice.as_str() {
                return Err(format!("{name} is {invoice} and {}", again["id"]).into());
            }
            return Ok(());
        }
        let path = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
        let pay = self.api.post(&path, &format!("{name}-paid"), &json!({}));
        let (paid, by) = self.insist(server + 1, &pay, 200).await?;
        if paid["status"] != "paid" {
            return Err(format!("{name} was paid and is {}", paid["status"]).into());
        }
        self.ledger.paid(&name);
        self.look(&name, &invoice, by + 1).await
    }

    async fn insist(&mut self, server: usize, request: &[u8], status: u16) -> Res<(Value, usize)> {
        let first = server % 3;
        let answer = self.api.insist(first, request).await?;
        if answer.server != first {
            self.ledger.asked_again();
        }
        match answer.status == status {
            true => Ok((answer.body, answer.server)),
            false => Err(format!("answered with {}: {}", answer.status, answer.body).into()),
        }
    }

    /// Whoever was told that an invoice is paid reads it so at every server that answers.
    async fn look(&mut self, name: &str, invoice: &str, server: usize) -> Res<()> {
        let request = self.api.get(&format!("/v1/invoices/{invoice}"));
        let Ok(seen) = self.api.ask(server % 3, &request).await else {
            return Ok(());
        };
        match seen.status {
            200 if seen.body["status"] != "paid" => Err(format!(
                "{name} is paid, and was read as {} at another server",
                seen.body["status"]
            )
            .into()),
            404 => Err(format!("{name} is paid, and another server does not know it").into()),
            _ => Ok(()),
        }
    }
}
