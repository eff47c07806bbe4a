//! Emptying deposit addresses: each forwarder is deployed where it is not yet, and told to pass on what lies there. It can
//! only pass it on to the destination in its code, so anybody may send this, and nobody can divert it.
//!
//! Whether a forwarder exists is decided when the transaction is mined and not when it is printed: deploying what exists
//! burns nearly all the gas there is, and others may have deployed it meanwhile.

use super::forwarder::init_code;
use super::multicall::Call;

/// `flush(address)` of the forwarder; no token means the network's own coin.
const FLUSH: [u8; 4] = [0x79, 0xc7, 0x6e, 0x1a];
/// Deploys those forwarders of the list behind it that do not exist yet, as a constructor, and is gone when its transaction
/// ends, so that the same can be sent again. `contracts/` holds the same bytes and says what they do.
pub const DEPLOYER: [u8; 42] = alloy_primitives::hex!(
    "602a5b388110600b5733ff5b60d18082600c39016000513b60025760008060bd602082335af150600256"
);
/// It leaves no account behind that another salt would have to make room for.
const DEPLOYER_SALT: [u8; 32] = [0; 32];
/// What a transaction, the deployer, a deployment and a flush cost at most, for when a node does not say. Measured in
/// batches, with a cold destination.
const GAS_BASE: u64 = 60_000;
const GAS_DEPLOYER: u64 = 50_000;
const GAS_DEPLOY: u64 = 90_000;
const GAS_FLUSH: u64 = 70_000;
/// The same in TRON's energy, where a popular token's calls may cost several times what they cost elsewhere.
const ENERGY_DEPLOY: u64 = 100_000;
const ENERGY_FLUSH: u64 = 400_000;

/// An address on which something lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    pub address: [u8; 20],
    pub salt: [u8; 32],
    pub destination: [u8; 20],
    pub is_deployed: bool,
    /// The tokens that lie there; none for the network's own coin.
    pub contracts: Vec<Option<[u8; 20]>>,
}

/// The calls that empty these, in their order: one for all deployments, where there are any, and one for each thing that
/// lies somewhere.
pub fn emptying(factory: &[u8; 20], holdings: &[Holding]) -> Vec<Call> {
    let deploying = deploying_missing(factory, holdings);
    let flushing = holdings.iter().flat_map(flushing);
    deploying.into_iter().chain(flushing).collect()
}

fn flushing(holding: &Holding) -> impl Iterator<Item = Call> {
    holding.contracts.iter().map(|contract| {
        let mut input = FLUSH.to_vec();
        input.extend([0; 12]);
        input.extend(contract.unwrap_or_default());
        Call {
            to: holding.address,
            input,
        }
    })
}

/// The call that deploys those of these forwarders that do not exist when it is made.
fn deploying_missing(factory: &[u8; 20], holdings: &[Holding]) -> Option<Call> {
    let mut input = [&DEPLOYER_SALT[..], &DEPLOYER].concat();
    let program = input.len();
    for holding in holdings {
        if let Some(call) = deploying(factory, holding) {
            input.extend(holding.address);
            input.extend(call.input);
        }
    }
    (input.len() > program).then_some(Call {
        to: *factory,
        input,
    })
}

/// The call that deploys a forwarder, where it is not yet. It fails where it is, with all the gas that it was given.
pub fn deploying(factory: &[u8; 20], holding: &Holding) -> Option<Call> {
    let mut input = holding.salt.to_vec();
    input.extend(init_code(&holding.destination));
    (!holding.is_deployed).then_some(Call {
        to: *factory,
        input,
    })
}

/// Enough for one of the calls on TRON.
pub fn energy_at_most(call: &Call, holding: &Holding) -> u64 {
    match call.to == holding.address {
        true => ENERGY_FLUSH,
        false => ENERGY_DEPLOY,
    }
}

/// Enough for these calls.
pub fn gas_at_most(holdings: &[Holding]) -> u64 {
    let flushes: usize = holdings.iter().map(|it| it.contracts.len()).sum();
    let missing = holdings.iter().filter(|it| !it.is_deployed).count() as u64;
    let deploying = GAS_DEPLOYER * missing.min(1) + GAS_DEPLOY * missing;
    GAS_BASE + deploying + GAS_FLUSH * flushes as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evm::forwarder::EvmForwarder;

    const FACTORY: [u8; 20] = [0xfa; 20];

    fn holding(number: u8, destination: [u8; 20]) -> Holding {
        let salt = [number; 32];
        Holding {
            address: EvmForwarder::new(&destination).address(&FACTORY, &salt),
            salt,
            destination,
            is_deployed: false,
            contracts: vec![Some([0xcc; 20]), None],
        }
    }

    fn deployed(holding: &Holding) -> Holding {
        Holding {
            is_deployed: true,
            ..holding.clone()
        }
    }

    #[test]
    fn all_missing_forwarders_are_deployed_by_one_call_and_each_thing_is_flushed() {
        let missing = [holding(1, [0xde; 20]), holding(3, [0xdf; 20])];
        let there = deployed(&holding(2, [0xde; 20]));
        let all = [missing[0].clone(), there.clone(), missing[1].clone()];
        let calls = emptying(&FACTORY, &all);
        let to: Vec<[u8; 20]> = calls.iter().map(|call| call.to).collect();
        let [first, second, third] = all.map(|it| it.address);
        assert_eq!(to, [FACTORY, first, first, second, second, third, third]);

        let (program, list) = calls[0].input.split_at(32 + DEPLOYER.len());
        assert_eq!(program, [&[0; 32][..], &DEPLOYER].concat());
        let entries: Vec<&[u8]> = list.chunks(20 + 32 + 157).collect();
        let expected = missing.map(|it| {
            let init = init_code(&it.destination);
            [&it.address[..], &it.salt, &init].concat()
        });
        assert_eq!(entries, expected);

        assert_eq!(
            hex::encode(&calls[1].input),
            format!("79c76e1a{:0>64}", "cc".repeat(20))
        );
        assert_eq!(
            hex::encode(&calls[2].input),
            format!("79c76e1a{}", "0".repeat(64))
        );
    }

    #[test]
    fn where_all_exist_nothing_is_deployed() {
        let there = deployed(&holding(1, [0xde; 20]));
        let calls = emptying(&FACTORY, std::slice::from_ref(&there));
        assert!(calls.iter().all(|call| call.to == there.address));
        assert!(gas_at_most(&[there]) < gas_at_most(&[holding(1, [0xde; 20])]));
    }

    #[test]
    fn the_deployer_of_a_whole_batch_is_far_from_the_limit_for_init_code() {
        let all: Vec<Holding> = (0..50).map(|it| holding(it, [0xde; 20])).collect();
        let init_code = emptying(&FACTORY, &all)[0].input.len() - 32;
        assert!(init_code < 49_152 / 4, "{init_code}");
    }
}
