//! A shop that watches a regtest node, with an invoice over 25 dollars to be paid there.

use serde_json::Value;

use crate::common::{Server, comes_true};
use crate::node::Node;
use crate::shop::{Shop, until_reading};

pub const REGTEST: &str = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
pub const BTC: &str = "BTC@bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
/// What 25 dollars are at the price of test mode.
pub const SATS: u64 = 50_000;

pub struct Watched {
    pub node: Node,
    pub shop: Shop,
    pub server: Server,
    pub id: String,
    pub deposit: String,
}

impl Watched {
    /// None where no node is to be had.
    pub fn open() -> Option<Watched> {
        Watched::open_with("", "")
    }

    /// With more lines about the network, and with more sections.
    pub fn open_with(network: &str, more: &str) -> Option<Watched> {
        let node = Node::start()?;
        let lines = format!("rpc = [{:?}]\n{network}", node.url);
        Some(Watched::of(node, &lines, more))
    }

    /// Reads two addresses of the node, which must agree.
    pub fn open_twice() -> Option<Watched> {
        let node = Node::start()?;
        let lines = format!("rpc = [{:?}, {:?}]\n", node.url, node.second_url);
        Some(Watched::of(node, &lines, ""))
    }

    /// Asks no node, but one provider about it.
    pub fn open_at_provider() -> Option<Watched> {
        let node = Node::start_with_pages()?;
        let lines = format!("esplora = [{:?}]\n", node.provider_url());
        Some(Watched::of(node, &lines, ""))
    }

    /// Asks two providers, which must agree and of which the second may lie.
    pub fn open_at_providers() -> Option<Watched> {
        let node = Node::start_with_pages()?;
        let (one, two) = (node.provider_url(), node.second_provider_url());
        Some(Watched::of(
            node,
            &format!("esplora = [{one:?}, {two:?}]\n"),
            "",
        ))
    }

    /// Reads the node, and asks a provider that must agree with it and may lie.
    pub fn open_beside_provider() -> Option<Watched> {
        let node = Node::start_with_pages()?;
        let (one, two) = (node.url.clone(), node.second_provider_url());
        let lines = format!("rpc = [{one:?}]\nesplora = [{two:?}]\n");
        Some(Watched::of(node, &lines, ""))
    }

    /// With these lines about the network, and these sections.
    pub fn of(node: Node, network: &str, more: &str) -> Watched {
        let shop = Shop::new(&format!("{more}[networks.{REGTEST:?}]\n{network}"));
        let server = shop.open();
        until_reading(&server);
        let (id, deposit) = shop.invoice(&server, "25.00", BTC);
        Watched {
            node,
            shop,
            server,
            id,
            deposit,
        }
    }

    /// What the server says of the network.
    pub fn readyz(&self) -> String {
        let ready = self.server.client("").get("/readyz").unwrap().json();
        ready["networks"][0].to_string()
    }

    #[track_caller]
    pub fn until(&self, status: &str) -> Value {
        self.shop.until_status(&self.server, &self.id, status)
    }

    /// Hash, status and finality of each payment of the invoice, the oldest first.
    pub fn payments(&self) -> Vec<(String, String, String)> {
        let mut payments = self.shop.payments(&self.server, &self.id);
        payments.reverse();
        let shown = |payment: &Value, name: &str| payment[name].as_str().map(str::to_owned);
        let of = |payment: &Value| {
            let names = ["tx_hash", "status", "finality"];
            let [hash, status, finality] = names.map(|name| shown(payment, name));
            (
                hash.unwrap_or_default(),
                status.unwrap_or_default(),
                finality.unwrap_or_default(),
            )
        };
        payments.iter().map(of).collect()
    }

    #[track_caller]
    pub fn until_payments(&self, expected: &[(&str, &str, &str)]) {
        let own = |(hash, status, finality): &(&str, &str, &str)| {
            (
                (*hash).to_owned(),
                (*status).to_owned(),
                (*finality).to_owned(),
            )
        };
        let expected: Vec<_> = expected.iter().map(own).collect();
        comes_true(|| self.payments() == expected);
        assert_eq!(self.payments(), expected);
    }

    #[track_caller]
    pub fn until_told(&self, types: &[&str]) {
        self.shop.until_told(&self.id, types);
    }
}
