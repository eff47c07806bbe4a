//! Forwarder addresses by TRON's rule.

use crate::address::tron::PREFIX;
use crate::evm::forwarder::{EvmForwarder, create2};

/// The forwarder of the EVM with TRON's prefix where EIP-1014 has 0xff (TIP-26). The factory's own address
/// depends on the transaction that deployed it, so it differs from network to network.
pub fn tron_address(factory: &[u8; 20], salt: &[u8; 32], forwarder: &EvmForwarder) -> [u8; 20] {
    create2(PREFIX, factory, salt, &forwarder.init_hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tron::address::{display, parse_hex};

    #[test]
    fn the_formula_gives_the_known_address() {
        let factory = parse_hex("4142a1e39aefa49290f2b3f9ed688d7cecf86cd6e0").unwrap();
        let destination = parse_hex("4152908400098527886e0f7030069857d2e4169ee7").unwrap();
        let forwarder = EvmForwarder::new(&destination);
        assert_eq!(
            display(&tron_address(&factory, &[0; 32], &forwarder)),
            "TFyWWu4jnc3bCnDVFvGRPYby7uJQu9Xtkt"
        );
        assert_ne!(
            tron_address(&factory, &[0; 32], &forwarder),
            forwarder.address(&factory, &[0; 32])
        );
    }
}
