// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Forwarder} from "../src/Forwarder.sol";
import {CountingWallet, RefusingWallet} from "./support/Destinations.sol";
import {Fixture} from "./support/Fixture.sol";
import "./support/Tokens.sol";

/// The bytes mean what Forwarder.sol says. Both run at the same address from the same state, and everything an
/// outsider can see is compared: success, what is returned, and in their order all calls with their data and
/// value, balances and storage before and after, as forge records them.
contract MeaningTest is Fixture {
    address[] private tokens;

    function setUp() public override {
        super.setUp();
        PausableToken paused = new PausableToken();
        paused.pause(true);
        PlainToken plain = new PlainToken();
        tokens = [COIN, STRANGER, address(1), address(2), address(4), merchant, factory, predict(0, merchant)];
        tokens.push(address(plain));
        tokens.push(address(new SilentToken()));
        tokens.push(address(new FalseToken()));
        tokens.push(address(new RefusingToken()));
        tokens.push(address(paused));
        tokens.push(address(new FeeToken()));
        tokens.push(address(new BoastingToken()));
        tokens.push(address(new MumblingToken(0, false)));
        tokens.push(address(new MumblingToken(31, false)));
        tokens.push(address(new MumblingToken(100, false)));
        tokens.push(address(new MumblingToken(100, true)));
        tokens.push(address(new ReentrantToken(address(plain))));
        for (uint256 i = 8; i < tokens.length; i++) {
            Token(tokens[i]).mint(predict(0, merchant), 1000 + i);
        }
    }

    function testFuzz_of_any_data(bytes calldata data, uint64 value) external {
        compare(merchant, data, value);
    }

    function testFuzz_of_any_flush(uint256 word, uint8 length, bytes calldata rest, uint64 value) external {
        bytes memory data = abi.encodePacked(bytes4(keccak256("flush(address)")), word, rest);
        compare(merchant, cut(data, length), value);
    }

    function testFuzz_of_every_token(uint8 which, uint96 dirt, uint8 length, bytes calldata rest, uint64 value)
        external
    {
        uint256 word = uint160(tokens[which % tokens.length]);
        if (which >= 128) word |= uint256(dirt) << 160;
        bytes memory data = abi.encodePacked(bytes4(keccak256("flush(address)")), word, rest);
        compare(merchant, which % 3 == 0 ? cut(data, length) : data, value);
    }

    function test_of_every_token_as_it_is() external {
        for (uint256 i = 0; i < tokens.length; i++) {
            compare(merchant, abi.encodeWithSignature("flush(address)", tokens[i]), 1);
        }
    }

    function test_of_wallets_that_are_contracts() external {
        compare(address(new CountingWallet()), abi.encodeWithSignature("flush(address)", COIN), 5);
        compare(address(new RefusingWallet()), abi.encodeWithSignature("flush(address)", COIN), 5);
    }

    function compare(address destination, bytes memory data, uint64 value) private {
        bytes memory meant = address(new Forwarder(destination)).code;
        bytes32 was = observe(runtime(destination), data, value);
        bytes32 should = observe(meant, data, value);
        vm.assertEq(was, should, "the bytes do something else than Forwarder.sol");
    }

    function observe(bytes memory code, bytes memory data, uint64 value) private returns (bytes32 seen) {
        uint256 state = vm.snapshotState();
        address forwarder = predict(0, merchant);
        vm.etch(forwarder, code);
        vm.deal(forwarder, 7 ether);
        vm.startStateDiffRecording();
        (bool ok, bytes memory answer) = forwarder.call{value: value, gas: 5_000_000}(data);
        // Taken as it comes: an array of structures, in which nothing depends on the code or the gas used.
        (bool recorded, bytes memory diff) = address(vm).call(abi.encodeWithSignature("stopAndReturnStateDiff()"));
        vm.assertTrue(recorded && diff.length > 64, "forge recorded the call");
        seen = keccak256(abi.encode(ok, answer, diff));
        vm.revertToState(state);
    }

    function cut(bytes memory data, uint8 length) private pure returns (bytes memory) {
        if (length < data.length) {
            assembly {
                mstore(data, length)
            }
        }
        return data;
    }
}
