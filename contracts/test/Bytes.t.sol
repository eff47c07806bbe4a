// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "./support/Fixture.sol";

/// What is deployed, and where: testdata/address_vectors.json, which Rust and the checkout hold to as well.
contract BytesTest is Fixture {
    function test_the_factory_is_the_one_whose_code_is_pinned() external view {
        bytes32 pinned = vm.parseJsonBytes32(vectors, ".forwarder.factory_runtime_keccak");
        vm.assertEq(keccak256(factory.code), pinned, "factory");
    }

    function test_the_function_is_flush_of_an_address() external view {
        bytes32 pinned = bytes4(vm.parseJsonBytes(vectors, ".forwarder.flush_selector"));
        vm.assertEq(bytes32(bytes4(keccak256("flush(address)"))), pinned, "selector");
    }

    function test_every_pinned_address_is_where_the_factory_deploys_and_holds_the_forwarder() external {
        uint256 deployed = 0;
        for (uint256 i = 0; vm.keyExistsJson(vectors, entry("create2", i)); i++) {
            if (deployAsPinned(entry("create2", i))) {
                bytes32 pinned = vm.parseJsonBytes32(vectors, string.concat(entry("create2", i), ".init_code_hash"));
                vm.assertEq(keccak256(initCode(merchant)), pinned, "init code");
                deployed++;
            }
        }
        for (uint256 i = 0; vm.keyExistsJson(vectors, entry("deposits", i)); i++) {
            if (deployAsPinned(entry("deposits", i))) deployed++;
        }
        vm.assertTrue(deployed >= 9, "the vectors of the EVM");
    }

    function test_the_network_is_not_among_the_inputs() external {
        vm.chainId(1);
        address expected = predict(0, merchant);
        vm.chainId(84532);
        vm.assertEq(address(deploy(merchant)), expected, "address");
    }

    function test_a_second_deployment_fails_and_leaves_the_first_alone() external {
        address first = address(deploy(merchant));
        (bool ok,) = tryDeploy(0, merchant);
        vm.assertFalse(ok, "deployed twice");
        vm.assertEq(first.code, runtime(merchant), "code");
    }

    function testFuzz_any_destination_is_in_the_address_and_in_the_code(
        bytes32 salt,
        address destination,
        address other
    ) external {
        vm.assume(destination != other);
        vm.assertTrue(predict(salt, destination) != predict(salt, other), "two destinations share an address");
        (, address deployed) = tryDeploy(salt, destination);
        vm.assertEq(deployed, predict(salt, destination), "address");
        vm.assertEq(deployed.code, abi.encodePacked(hex"73", destination, tail()), "code");
    }

    /// Nothing that stores, creates, deletes itself, or runs another's code as its own: these are all there are,
    /// two calls that may change something, one that may not, and no jump to a place that is not written down.
    function test_the_code_has_these_instructions_and_no_others() external view {
        // STOP LT EQ ISZERO AND SHL SHR ADDRESS CALLDATALOAD CALLDATASIZE RETURNDATASIZE RETURNDATACOPY SELFBALANCE
        // MLOAD MSTORE JUMPI GAS JUMPDEST PUSH1 PUSH4 PUSH20 DUP1 DUP3 DUP5 DUP6 CALL STATICCALL REVERT
        bytes memory known = hex"00101415161b1c3035363d3e475152575a5b60637380828485f1fafd";
        bytes memory code = runtime(merchant);
        uint256[256] memory count;
        uint256 previous = 0;
        for (uint256 i = 0; i < code.length; i++) {
            uint8 opcode = uint8(code[i]);
            vm.assertTrue(contains(known, code[i]), "a strange instruction");
            count[opcode]++;
            if (opcode == 0x57) {
                vm.assertEq(uint8(code[previous]), 0x60, "JUMPI comes after its place");
                vm.assertEq(uint8(code[uint8(code[previous + 1])]), 0x5b, "which is a JUMPDEST");
            }
            previous = i;
            if (opcode >= 0x60 && opcode <= 0x7f) i += opcode - 0x5f;
        }
        vm.assertEq(count[0xf1], 2, "CALL");
        vm.assertEq(count[0xfa], 1, "STATICCALL");
    }

    function contains(bytes memory list, bytes1 wanted) private pure returns (bool found) {
        for (uint256 i = 0; i < list.length; i++) {
            found = found || list[i] == wanted;
        }
    }

    function deployAsPinned(string memory path) private returns (bool) {
        bytes32 scheme = keccak256(bytes(vm.parseJsonString(vectors, string.concat(path, ".derivation.scheme"))));
        if (scheme != keccak256("create2_forwarder_v1")) return false;
        bytes32 salt = vm.parseJsonBytes32(vectors, string.concat(path, ".derivation.salt"));
        address destination = vm.parseJsonAddress(vectors, string.concat(path, ".derivation.destination"));
        address pinned = vm.parseJsonAddress(vectors, string.concat(path, ".address"));
        vm.assertEq(predict(salt, destination), pinned, path);
        // One address serves all networks of the family, so some come more than once.
        if (pinned.code.length == 0) {
            (bool ok, address deployed) = tryDeploy(salt, destination);
            vm.assertTrue(ok && deployed == pinned, path);
        }
        vm.assertEq(pinned.code, runtime(destination), path);
        return true;
    }

    function entry(string memory list, uint256 i) private pure returns (string memory) {
        return string.concat(".", list, "[", vm.toString(i), "]");
    }

    function tail() private view returns (bytes memory) {
        return vm.parseJsonBytes(vectors, ".forwarder.init_suffix");
    }
}
