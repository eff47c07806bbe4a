//! Who can spend an output: the programs that are watched for, and addresses as people write them.

use bitcoin::{
    Address, KnownHrp, Network as Chain, PubkeyHash, Script, WitnessProgram, WitnessVersion,
};
use till_core::asset::{Mode, Network};

use super::header::is_regtest;

/// The hash of a key that an output of version 0 pays to: what deposit addresses are.
pub type KeyProgram = [u8; 20];

fn chain(mode: Mode) -> Chain {
    match mode {
        Mode::Live => Chain::Bitcoin,
        Mode::Test => Chain::Testnet,
    }
}

/// None for every other kind of script, however much of it is the same.
pub fn key_program(script: &Script) -> Option<KeyProgram> {
    match script.is_p2wpkh() {
        true => script.as_bytes().get(2..)?.try_into().ok(),
        false => None,
    }
}

/// A watched program as an address.
pub fn shown(mode: Mode, program: &KeyProgram) -> Option<String> {
    let program = WitnessProgram::new(WitnessVersion::V0, program).ok()?;
    let hrp = KnownHrp::from(chain(mode));
    Some(Address::from_witness_program(program, hrp).to_string())
}

/// The same as wallets and providers of this very network write it: a regtest chain has a prefix of its own.
pub fn shown_on(network: &Network, program: &KeyProgram) -> Option<String> {
    let program = WitnessProgram::new(WitnessVersion::V0, program).ok()?;
    let hrp = match is_regtest(network) {
        true => KnownHrp::Regtest,
        false => KnownHrp::from(chain(network.mode)),
    };
    Some(Address::from_witness_program(program, hrp).to_string())
}

/// And back; none for addresses of another kind or mode.
pub fn parse(mode: Mode, address: &str) -> Option<KeyProgram> {
    let address = address.parse::<Address<_>>().ok()?;
    let address = address.require_network(chain(mode)).ok()?;
    key_program(&address.script_pubkey())
}

/// The address of whoever could spend an output. A bare key is named by its hash, as explorers do; a script without an address
/// names nobody.
pub fn owner(mode: Mode, script: &Script) -> Option<String> {
    if let Some(key) = script.p2pk_public_key() {
        let hash = PubkeyHash::from(key);
        return Some(Address::p2pkh(hash, chain(mode)).to_string());
    }
    let address = Address::from_script(script, chain(mode)).ok()?;
    Some(address.to_string())
}

#[cfg(test)]
mod tests {
    use bitcoin::{ScriptBuf, WPubkeyHash, hashes::Hash as _};

    use super::*;

    // D28: what looks alike and is something else.
    #[test]
    fn only_an_output_that_pays_to_the_very_program_is_ours() {
        let ours = ScriptBuf::new_p2wpkh(&WPubkeyHash::from_byte_array([7; 20]));
        assert_eq!(key_program(&ours), Some([7; 20]));
        let alike = [
            format!("a914{}87", "07".repeat(20)),
            format!("76a914{}88ac", "07".repeat(20)),
            format!("5114{}", "07".repeat(20)),
            format!("0014{}00", "07".repeat(20)),
            format!("0014{}", "07".repeat(19)),
            format!("0020{}", "07".repeat(32)),
            format!("6a14{}", "07".repeat(20)),
            String::new(),
        ];
        for hex in alike {
            let script = ScriptBuf::from_hex(&hex).unwrap();
            assert_eq!(key_program(&script), None, "{hex}");
        }
    }

    #[test]
    fn a_program_is_shown_as_the_address_that_it_is_read_from() {
        for mode in [Mode::Live, Mode::Test] {
            let address = shown(mode, &[7; 20]).unwrap();
            assert_eq!(parse(mode, &address), Some([7; 20]));
            let other = match mode {
                Mode::Live => Mode::Test,
                Mode::Test => Mode::Live,
            };
            assert_eq!(parse(other, &address), None);
        }
        let taproot = "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr";
        assert_eq!(parse(Mode::Live, taproot), None);
    }

    #[test]
    fn every_kind_of_owner_has_an_address_and_a_bare_key_that_of_its_hash() {
        let genesis = bitcoin::constants::genesis_block(Chain::Bitcoin);
        let script = &genesis.txdata[0].output[0].script_pubkey;
        assert_eq!(
            owner(Mode::Live, script).as_deref(),
            Some("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")
        );
        for text in [
            "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
            "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
        ] {
            let address = text.parse::<Address<_>>().unwrap().assume_checked();
            assert_eq!(
                owner(Mode::Live, &address.script_pubkey()).as_deref(),
                Some(text)
            );
        }
        let data = ScriptBuf::from_hex("6a0474657374").unwrap();
        assert_eq!(owner(Mode::Live, &data), None);
    }
}
