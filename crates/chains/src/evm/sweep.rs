//! Emptying deposit addresses: each forwarder is deployed where it is not yet, and told to pass on what lies there. It can
//! only pass it on to the destination in its code, so anybody may send this, and nobody can divert it.

use super::forwarder::init_code;
use super::multicall::Call;

/// `flush(address)` of the forwarder; no token means the network's own coin.
const FLUSH: [u8; 4] = [0x79, 0xc7, 0x6e, 0x1a];
/// What a transaction, a deployment and a flush cost at most, for when a node does not say. Measured in batches, with
/// a cold destination.
const GAS_BASE: u64 = 60_000;
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

/// The calls that empty these, in their order.
pub fn emptying(factory: &[u8; 20], holdings: &[Holding]) -> Vec<Call> {
    let mut calls = Vec::new();
    for holding in holdings {
        calls.extend(deploying(factory, holding));
        calls.extend(holding.contracts.iter().map(|contract| {
            let mut input = FLUSH.to_vec();
            input.extend([0; 12]);
            input.extend(contract.unwrap_or_default());
            Call {
                to: holding.address,
                input,
            }
        }));
    }
    calls
}

/// The call that deploys a forwarder, where it is not yet.
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
    let of = |holding: &Holding| {
        let deploy = u64::from(!holding.is_deployed) * GAS_DEPLOY;
        deploy + holding.contracts.len() as u64 * GAS_FLUSH
    };
    GAS_BASE + holdings.iter().map(of).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evm::forwarder::EvmForwarder;

    #[test]
    fn a_forwarder_is_deployed_once_and_flushed_for_each_thing_that_lies_there() {
        let (factory, destination, salt) = ([0xfa; 20], [0xde; 20], [7; 32]);
        let holding = Holding {
            address: EvmForwarder::new(&destination).address(&factory, &salt),
            salt,
            destination,
            is_deployed: false,
            contracts: vec![Some([0xcc; 20]), None],
        };
        let deployed = Holding {
            is_deployed: true,
            ..holding.clone()
        };
        let calls = emptying(&factory, &[holding.clone(), deployed.clone()]);
        let to: Vec<[u8; 20]> = calls.iter().map(|call| call.to).collect();
        let here = holding.address;
        assert_eq!(to, [factory, here, here, here, here]);
        assert_eq!(calls[0].input[..32], salt);
        assert_eq!(calls[0].input.len(), 32 + 157);
        assert_eq!(
            hex::encode(&calls[1].input),
            format!("79c76e1a{:0>64}", "cc".repeat(20))
        );
        assert_eq!(
            hex::encode(&calls[2].input),
            format!("79c76e1a{}", "0".repeat(64))
        );
        assert!(gas_at_most(&[deployed]) < gas_at_most(&[holding]));
    }
}
