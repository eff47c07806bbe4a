// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "./Vm.sol";

interface IForwarder {
    function flush(address token) external payable;
}

/// The bytes of forwarder.json, and the factory that deploys them.
abstract contract Fixture {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    address internal constant COIN = address(0);
    address internal constant STRANGER = address(0x57A4);

    string internal vectors;
    address internal factory;
    address internal merchant;
    bytes private prefix;
    bytes private suffix;
    uint256 private constructorLength;

    function setUp() public virtual {
        string memory artefact = vm.readFile("forwarder.json");
        prefix = vm.parseJsonBytes(artefact, ".init_prefix");
        suffix = vm.parseJsonBytes(artefact, ".init_suffix");
        constructorLength = vm.parseJsonUint(artefact, ".runtime_offset");
        vectors = vm.readFile("../testdata/address_vectors.json");
        merchant = vm.parseJsonAddress(vectors, ".create2[0].derivation.destination");
        factory = vm.parseJsonAddress(vectors, ".forwarder.factory");
        vm.etch(factory, vm.parseJsonBytes(vectors, ".forwarder.factory_runtime"));
    }

    function initCode(address destination) internal view returns (bytes memory) {
        return abi.encodePacked(prefix, destination, suffix);
    }

    function runtime(address destination) internal view returns (bytes memory code) {
        bytes memory init = initCode(destination);
        code = new bytes(init.length - constructorLength);
        for (uint256 i = 0; i < code.length; i++) {
            code[i] = init[i + constructorLength];
        }
    }

    function predict(bytes32 salt, address destination) internal view returns (address) {
        bytes32 preimage = keccak256(abi.encodePacked(hex"ff", factory, salt, keccak256(initCode(destination))));
        return address(uint160(uint256(preimage)));
    }

    function tryDeploy(bytes32 salt, address destination) internal returns (bool ok, address deployed) {
        bytes memory answer;
        (ok, answer) = factory.call(abi.encodePacked(salt, initCode(destination)));
        if (ok) deployed = address(bytes20(answer));
    }

    function deploy(address destination) internal returns (IForwarder) {
        (bool ok, address deployed) = tryDeploy(0, destination);
        vm.assertTrue(ok, "the factory deploys");
        return IForwarder(deployed);
    }

    /// Somebody who may receive: no precompile, nobody with code.
    function assumeOrdinary(address account) internal view {
        vm.assume(uint160(account) > 0xffff && account.code.length == 0 && account != address(vm));
    }
}
