//! The forwarder and its deployer are written in `contracts/` and used here: both must mean the same bytes.

use serde_json::{Value, json};
use till_chains::evm::forwarder::{INIT_LEN, INIT_PREFIX, INIT_SUFFIX, init_code};
use till_chains::evm::sweep::DEPLOYER;

/// What `contracts/check` holds against its source.
fn artefact(name: &str) -> Value {
    let path = format!("../../contracts/{name}.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn hexadecimal(bytes: &[u8]) -> Value {
    json!(format!("0x{}", hex::encode(bytes)))
}

#[test]
fn the_forwarder_of_the_addresses_is_the_one_under_contracts() {
    let artefact = artefact("forwarder");
    assert_eq!(artefact["init_prefix"], hexadecimal(&INIT_PREFIX));
    assert_eq!(artefact["init_suffix"], hexadecimal(&INIT_SUFFIX));
    assert_eq!(artefact["init_length"], json!(INIT_LEN));
}

#[test]
fn the_deployer_of_the_batches_is_the_one_under_contracts() {
    let artefact = artefact("deployer");
    assert_eq!(artefact["program"], hexadecimal(&DEPLOYER));
    assert_eq!(artefact["entry_length"], json!(20 + 32 + INIT_LEN));
}

/// What a look at a deployed address has to find there.
#[test]
fn the_code_of_a_deployed_forwarder_is_the_init_code_without_its_constructor() {
    let destination = [0x52; 20];
    let offset =
        usize::try_from(artefact("forwarder")["runtime_offset"].as_u64().unwrap()).unwrap();
    let init_code = init_code(&destination);
    let runtime = &init_code[offset..];
    // PUSH20 and the destination: the first thing the forwarder does is to know where the money goes.
    assert_eq!(runtime[0], 0x73);
    assert_eq!(runtime[1..21], destination);
    // The constructor returns exactly that: its second byte is the length, its sixth the offset.
    assert_eq!(usize::from(init_code[1]), runtime.len());
    assert_eq!(usize::from(init_code[5]), offset);
}
