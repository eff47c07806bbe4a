//! A merchant with a server, an endpoint for webhooks, and invoices to be paid.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::common::{Client, Place, Server, comes_true, text, until};

/// Waits until a network is read: before that, it takes as many endpoints as must agree to say where reading begins.
#[track_caller]
pub fn until_reading(server: &Server) {
    server.log_until("watching");
    until("a network is read", || {
        let ready = server.client("").get("/readyz").map(|reply| reply.json());
        ready.is_ok_and(|it| it["networks"][0]["height"].is_i64())
    });
}

pub struct Shop {
    pub place: Place,
    account: Value,
    told: Arc<Mutex<Vec<Value>>>,
    hooks: String,
    /// Whether its money is real.
    mode: &'static str,
    made: AtomicUsize,
}

impl Shop {
    /// With this much configuration beside what lets webhooks go to this machine.
    pub fn new(networks: &str) -> Shop {
        Shop::on(&[], networks)
    }

    /// On another database.
    pub fn on(database: &[&str], networks: &str) -> Shop {
        let place = Place::new();
        let account = place.account(database);
        let config = format!("[webhooks]\nallow_private_addresses = true\n{networks}");
        place.write("till.toml", &config);
        let mode = if database.contains(&"--live") {
            "live"
        } else {
            "test"
        };
        let told = Arc::default();
        let hooks = listen(Arc::clone(&told));
        Shop {
            place,
            account,
            told,
            hooks,
            mode,
            made: AtomicUsize::new(0),
        }
    }

    pub fn open(&self) -> Server {
        self.open_with(&[])
    }

    pub fn open_with(&self, more: &[&str]) -> Server {
        let mut args = vec!["--config", "till.toml"];
        args.extend(more);
        let server = self.place.serve(&args);
        // Where money is real, a key cannot say where webhooks go.
        if self.mode == "live" {
            return server;
        }
        let body = json!({ "webhook_url": self.hooks });
        let merchant = self.merchant(&server);
        let key = format!("hooks-{}", server.address);
        merchant
            .post("/v1/merchant/settings", &key, &body)
            .unwrap()
            .expect(200);
        server
    }

    pub fn merchant(&self, server: &Server) -> Client {
        let key = format!("/{}/secret_key", self.mode);
        server.client(text(&self.account, &key))
    }

    pub fn account_id(&self) -> &str {
        text(&self.account, "/account")
    }

    /// An invoice over dollars, and the address to pay on a network.
    pub fn invoice(&self, server: &Server, amount: &str, asset: &str) -> (String, String) {
        let body = json!({ "amount": amount, "currency": "USD", "assets": [asset] });
        let key = format!("invoice-{}", self.made.fetch_add(1, Ordering::Relaxed));
        let merchant = self.merchant(server);
        let invoice = merchant
            .post("/v1/invoices", &key, &body)
            .unwrap()
            .expect(201);
        let id = text(&invoice, "/id").to_owned();
        let deposit = text(&invoice, "/payment_options/0/address").to_owned();
        (id, deposit)
    }

    /// What a wallet is told to send for an invoice: where to, and how much of the asset.
    pub fn bound(&self, server: &Server, id: &str, asset: &str, sender: &str) -> (String, u128) {
        let path = format!("/v1/checkout/invoices/{id}/wallet_binding");
        let body = json!({ "asset": asset, "sender": sender });
        let merchant = self.merchant(server);
        let key = format!("wallet-{id}");
        let binding = merchant.post(&path, &key, &body).unwrap().expect(200);
        let units = text(&binding, "/amount_base_units").parse();
        let destination = text(&binding, "/destination").to_owned();
        (destination, units.expect("a number"))
    }

    pub fn read(&self, server: &Server, id: &str) -> Value {
        let path = format!("/v1/invoices/{id}");
        self.merchant(server).get(&path).unwrap().expect(200)
    }

    #[track_caller]
    pub fn until_status(&self, server: &Server, id: &str, status: &str) -> Value {
        let mut last = Value::Null;
        comes_true(|| {
            last = self.read(server, id);
            last["status"] == status
        });
        assert_eq!(last["status"], status, "{last}");
        last
    }

    pub fn payments(&self, server: &Server, id: &str) -> Vec<Value> {
        let path = format!("/v1/payments?invoice={id}");
        let list = self.merchant(server).get(&path).unwrap().expect(200);
        list["data"].as_array().expect("a list").clone()
    }

    /// The types of the events that were told about an invoice, in their order.
    pub fn told_of(&self, id: &str) -> Vec<String> {
        let told = self.told.lock().expect("not poisoned");
        let mut known = BTreeSet::new();
        let about = told
            .iter()
            .filter(|event| event["data"].to_string().contains(id))
            // A receiver knows an event that is delivered again by its id.
            .filter(|event| known.insert(text(event, "/id")));
        about.map(|event| text(event, "/type").to_owned()).collect()
    }

    /// What lies at the account's addresses, and the transactions that empty them.
    pub fn sweep(&self, more: &[&str]) -> Value {
        let sweep = ["sweep", "--config", "till.toml", "--mode", "test", "--json"];
        let account = ["--account", self.account_id()];
        let args = [&sweep[..], &account, more].concat();
        self.place.till(&args).json()
    }

    /// Until so many invoices were told to be paid.
    #[track_caller]
    pub fn until_paid(&self, count: usize) {
        until(&format!("{count} are paid"), || {
            let told = self.told.lock().expect("not poisoned");
            told.iter()
                .filter(|event| event["type"] == "invoice.paid")
                .count()
                >= count
        });
    }

    #[track_caller]
    pub fn until_told(&self, id: &str, types: &[&str]) {
        comes_true(|| self.told_of(id) == types);
        assert_eq!(self.told_of(id), types);
    }
}

fn listen(told: Arc<Mutex<Vec<Value>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/hooks", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let told = Arc::clone(&told);
            thread::spawn(move || receive(stream, &told));
        }
    });
    url
}

fn receive(mut stream: TcpStream, told: &Mutex<Vec<Value>>) {
    let (mut all, mut piece) = (Vec::new(), [0; 65_536]);
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        all.extend_from_slice(&piece[..read]);
        let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        if let Ok(event) = serde_json::from_slice(&all[end + 4..]) {
            told.lock().expect("not poisoned").push(event);
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .ok();
            all.clear();
        }
    }
}
