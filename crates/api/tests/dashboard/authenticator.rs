//! A virtual authenticator: it makes passkeys and signs with them, as a browser's `toJSON()` gives the result.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Where the tests' dashboard is.
pub const ORIGIN: &str = "http://localhost:4242";

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const ATTESTED: u8 = 0x40;

#[derive(Clone)]
struct Held {
    id: Vec<u8>,
    key: SigningKey,
    user: Vec<u8>,
}

/// What one device holds.
#[derive(Clone)]
pub struct Authenticator {
    held: Vec<Held>,
    /// How often it has signed; it says so each time.
    pub counter: u32,
    /// What it claims to be on.
    pub origin: String,
    /// Whether its user gave a finger or a code.
    pub verifies: bool,
    /// Whether the page that asks is inside another site's.
    pub is_embedded: bool,
}

fn fresh(what: &str) -> [u8; 32] {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (count, process) = (COUNT.fetch_add(1, Ordering::Relaxed), std::process::id());
    Sha256::digest(format!("{what}/{count}/{process}")).into()
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn decode(value: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text(value)).unwrap()
}

/// A CBOR byte string of fewer than 65536 bytes.
fn cbor_bytes(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
    [&[0x59], &length[..], bytes].concat()
}

fn cose_key(key: &SigningKey) -> Vec<u8> {
    let point = key.verifying_key().to_sec1_point(false);
    let (x, y) = (&point.as_bytes()[1..33], &point.as_bytes()[33..65]);
    let head = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
    [&head[..], x, &[0x22, 0x58, 0x20], y].concat()
}

impl Authenticator {
    pub fn new() -> Authenticator {
        Authenticator {
            held: Vec::new(),
            counter: 0,
            origin: ORIGIN.to_owned(),
            verifies: true,
            is_embedded: false,
        }
    }

    fn client_data(&self, kind: &str, options: &Value) -> String {
        json!({ "type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": self.is_embedded }).to_string()
    }

    fn data(&mut self, host: &str, flags: u8) -> Vec<u8> {
        self.counter += 1;
        let verified = if self.verifies { USER_VERIFIED } else { 0 };
        let flags = flags | USER_PRESENT | BACKUP_ELIGIBLE | BACKED_UP | verified;
        let host: [u8; 32] = Sha256::digest(host).into();
        [&host[..], &[flags], &self.counter.to_be_bytes()].concat()
    }

    /// Makes a passkey, as `navigator.credentials.create` does.
    pub fn create(&mut self, options: &Value) -> Value {
        let held = Held {
            id: fresh("id").to_vec(),
            key: SigningKey::from_slice(&fresh("key")).unwrap(),
            user: decode(&options["user"]["id"]),
        };
        self.held.push(held.clone());
        self.attest(options, &held)
    }

    /// Gives out the passkey that it made last as if it were new.
    pub fn create_again(&mut self, options: &Value) -> Value {
        let held = self.held.last().unwrap().clone();
        self.attest(options, &held)
    }

    fn attest(&mut self, options: &Value, held: &Held) -> Value {
        let client = self.client_data("webauthn.create", options);
        let host = text(&options["rp"]["id"]);
        let length = u16::try_from(held.id.len()).unwrap().to_be_bytes();
        let data = [
            &self.data(host, ATTESTED)[..],
            &[0; 16],
            &length,
            &held.id,
            &cose_key(&held.key),
        ]
        .concat();
        let attestation = [
            b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData",
            &cbor_bytes(&data)[..],
        ]
        .concat();
        json!({
            "id": encode(&held.id),
            "rawId": encode(&held.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": { "credProps": { "rk": true } },
            "response": {
                "clientDataJSON": encode(client.as_bytes()),
                "attestationObject": encode(&attestation),
                "transports": ["internal", "hybrid"],
            },
        })
    }

    /// Signs with a passkey that is allowed, as `navigator.credentials.get` does.
    pub fn get(&mut self, options: &Value) -> Value {
        let allowed = options["allowCredentials"].as_array();
        let fits = |held: &&Held| {
            allowed.is_none_or(|all| all.iter().any(|one| decode(&one["id"]) == held.id))
        };
        let held = self.held.iter().find(fits).expect("a passkey").clone();
        let client = self.client_data("webauthn.get", options);
        let data = self.data(text(&options["rpId"]), 0);
        let hash: [u8; 32] = Sha256::digest(&client).into();
        let signature: Signature = held.key.sign(&[&data[..], &hash].concat());
        json!({
            "id": encode(&held.id),
            "rawId": encode(&held.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encode(client.as_bytes()),
                "authenticatorData": encode(&data),
                "signature": encode(signature.to_der().as_bytes()),
                "userHandle": encode(&held.user),
            },
        })
    }
}
