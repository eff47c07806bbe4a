//! The 80 bytes at the head of a block: they hash to its name, name the block before and all transactions, and carry work.

use bitcoin::block::Header as RawHeader;
use bitcoin::consensus::encode::deserialize_hex;
use bitcoin::hashes::Hash as _;
use bitcoin::{CompactTarget, Target};
use till_core::asset::{Mode, Network};
use till_core::time::SECOND_MS;

use super::decode_error::DecodeError;

/// A block's name as nodes and people write it, the last byte first.
pub type BlockName = [u8; 32];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    pub name: BlockName,
    pub parent: BlockName,
    /// In milliseconds. Miners set it: it may be an hour behind the real time, or two ahead.
    pub time: i64,
    /// What names all transactions, in the order of its hash function.
    pub merkle_root: [u8; 32],
}

/// A difficulty of 2^43, which every block of the main network has exceeded since 2019. A header with less may be right and is
/// older than anything that is watched; one that is made up costs as much.
const MAIN_LEAST_WORK: u32 = 0x1720_0000;
const REGTEST: &str = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";

pub(super) fn is_regtest(network: &Network) -> bool {
    network.id == REGTEST
}

/// The largest target that a header of the network may have.
fn easiest(network: &Network) -> Target {
    match (network.mode, &*network.id) {
        (Mode::Live, _) => Target::from_compact(CompactTarget::from_consensus(MAIN_LEAST_WORK)),
        (Mode::Test, REGTEST) => Target::MAX_ATTAINABLE_REGTEST,
        // The easiest of the public test networks.
        (Mode::Test, _) => Target::MAX_ATTAINABLE_SIGNET,
    }
}

/// The header that a node gives for a name.
pub fn header(network: &Network, name: &BlockName, hex: &str) -> Result<BlockHeader, DecodeError> {
    let raw: RawHeader = deserialize_hex(hex).map_err(|_| DecodeError::Shape)?;
    checked(network, name, &raw)
}

/// Its hash must be the name, and must meet a target that the network allows.
pub(super) fn checked(
    network: &Network,
    name: &BlockName,
    raw: &RawHeader,
) -> Result<BlockHeader, DecodeError> {
    let target = raw.target();
    let hash = raw.validate_pow(target).map_err(|_| DecodeError::Work)?;
    if reversed(hash.to_byte_array()) != *name {
        return Err(DecodeError::OtherBlock);
    }
    if target > easiest(network) {
        return Err(DecodeError::Work);
    }
    Ok(BlockHeader {
        name: *name,
        parent: reversed(raw.prev_blockhash.to_byte_array()),
        time: i64::from(raw.time) * SECOND_MS,
        merkle_root: raw.merkle_root.to_byte_array(),
    })
}

/// A hash as it is written, from a hash as it is computed, and back.
pub(super) fn reversed(mut hash: [u8; 32]) -> [u8; 32] {
    hash.reverse();
    hash
}

/// A name from its 64 digits.
pub fn name(text: &str) -> Result<BlockName, DecodeError> {
    let mut name = [0; 32];
    hex::decode_to_slice(text, &mut name).map_err(|_| DecodeError::Shape)?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use bitcoin::Network as Chain;
    use bitcoin::consensus::encode::serialize_hex;
    use bitcoin::constants::genesis_block;
    use till_core::asset::Registry;

    use super::*;

    fn network(id: &str) -> &'static Network {
        Registry::builtin().network(id).unwrap()
    }

    const TEST: &str = "bip122:00000000da84f2bafbbc53dee25a72ae";
    const MAIN: &str = "bip122:000000000019d6689c085ae165831e93";

    fn genesis(chain: Chain) -> (BlockName, String) {
        let header = genesis_block(chain).header;
        let name = reversed(header.block_hash().to_byte_array());
        (name, serialize_hex(&header))
    }

    #[test]
    fn a_header_is_what_its_hash_says_and_carries_its_work() {
        let (name, hex) = genesis(Chain::Bitcoin);
        let read = header(network(TEST), &name, &hex).unwrap();
        assert_eq!(
            hex::encode(read.name),
            "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
        );
        assert_eq!((read.parent, read.time), ([0; 32], 1_231_006_505_000));
        let mut other = name;
        other[31] ^= 1;
        let told = header(network(TEST), &other, &hex);
        assert_eq!(told, Err(DecodeError::OtherBlock));
        // A time that is another, and the work is gone.
        let spoiled = hex.replace("29ab5f49", "29ab5f48");
        let told = header(network(TEST), &name, &spoiled);
        assert_eq!(told, Err(DecodeError::Work));
        assert_eq!(
            header(network(TEST), &name, &hex[2..]),
            Err(DecodeError::Shape)
        );
    }

    #[test]
    fn work_that_anybody_can_do_is_no_work_of_a_public_network() {
        let (name, hex) = genesis(Chain::Regtest);
        let told = header(network(TEST), &name, &hex);
        assert_eq!(told, Err(DecodeError::Work));
        let (name, hex) = genesis(Chain::Bitcoin);
        let told = header(network(MAIN), &name, &hex);
        assert_eq!(told, Err(DecodeError::Work));
    }
}
