//! A shop that reads a node through proxies, with an invoice over 25 to be paid there.

use serde_json::Value;

use crate::common::Server;
use crate::node::Node;
use crate::proxy::Proxy;
use crate::shop::{Shop, until_reading};

pub const USDC: &str = "USDC@eip155:84532";

pub struct Watched<const N: usize> {
    pub node: Node,
    pub proxies: [Proxy; N],
    pub shop: Shop,
    pub server: Server,
    pub id: String,
    pub deposit: String,
}

impl<const N: usize> Watched<N> {
    /// None where no node is to be had.
    pub fn open() -> Option<Watched<N>> {
        Self::open_with("")
    }

    /// With more lines about the network.
    pub fn open_with(more: &str) -> Option<Watched<N>> {
        let node = Node::start("eip155:84532")?;
        let proxies = [(); N].map(|()| Proxy::before(&node));
        let urls = proxies.each_ref().map(|proxy| proxy.url.clone());
        let networks = format!("[networks.\"eip155:84532\"]\nrpc = {urls:?}\n{more}");
        let shop = Shop::new(&networks);
        let server = shop.open();
        until_reading(&server);
        let (id, deposit) = shop.invoice(&server, "25.00", USDC);
        Some(Watched {
            node,
            proxies,
            shop,
            server,
            id,
            deposit,
        })
    }

    pub fn pay(&self, units: u128) {
        self.node.pay(USDC, &[(&self.deposit, units)]);
    }

    pub fn until(&self, status: &str) -> Value {
        self.shop.until_status(&self.server, &self.id, status)
    }

    /// What the first payment brought.
    pub fn amount(&self) -> Value {
        let payments = self.shop.payments(&self.server, &self.id);
        payments[0]["amount"].clone()
    }

    pub fn is_held_as(&self, hold: &str) {
        let held = self.until("under_review");
        assert_eq!(held["review"]["hold"], hold, "{held}");
    }
}
