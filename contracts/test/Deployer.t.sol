// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture, IForwarder} from "./support/Fixture.sol";
import {PlainToken} from "./support/Tokens.sol";

interface IMulticall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory);
}

/// Two runs in one transaction, each with gas of its own.
contract Twice {
    function run(address factory, bytes calldata input) external returns (bool first, bool second) {
        (first,) = factory.call{gas: 10_000_000}(input);
        (second,) = factory.call{gas: 10_000_000}(input);
    }
}

/// The deployer, in the batches that `till sweep` prints. Each call that a test makes is a transaction here: what
/// destroys itself is gone when it ends.
/// forge-config: default.isolate = true
contract DeployerTest is Fixture {
    uint256 private constant COUNT = 8;
    uint256 private constant PAID = 5e6;
    /// Of a batch, of whatever size: what burns most of its gas is not made up for by plenty of it.
    uint256 private constant GAS = 6_000_000;
    IMulticall3 private constant MULTICALL3 = IMulticall3(0xcA11bde05977b3631167028862bE2a173976CA11);

    PlainToken private token;
    bytes private program;

    function setUp() public override {
        super.setUp();
        token = new PlainToken();
        string memory artefact = vm.readFile("deployer.json");
        program = vm.parseJsonBytes(artefact, ".program");
        vm.assertEq(vm.parseJsonUint(artefact, ".entry_length"), 20 + 32 + initCode(merchant).length, "entry");
        string memory digits = vm.trim(vm.readFile("../testdata/multicall3.hex"));
        vm.etch(address(MULTICALL3), vm.parseBytes(string.concat("0x", digits)));
        for (uint256 i = 0; i < COUNT; i++) {
            token.mint(forwarder(i), PAID);
        }
    }

    function test_all_that_do_not_exist_are_deployed_and_emptied() external {
        send(batch(COUNT));
        allAreSwept();
    }

    function test_all_that_exist_are_left_alone_and_emptied() external {
        for (uint256 i = 0; i < COUNT; i++) {
            deployOne(i);
        }
        send(batch(COUNT));
        allAreSwept();
    }

    /// forge-config: default.fuzz.runs = 300
    function testFuzz_whichever_exist_all_are_emptied(uint8 existing) external {
        for (uint256 i = 0; i < COUNT; i++) {
            if (existing >> i & 1 == 1) deployOne(i);
        }
        IMulticall3.Result[] memory results = send(batch(COUNT));
        for (uint256 i = 0; i < results.length; i++) {
            vm.assertTrue(results[i].success, "every call succeeds");
        }
        allAreSwept();
    }

    function test_a_batch_may_be_sent_any_number_of_times_under_the_rules_of_every_hardfork() external {
        string[5] memory hardforks = ["istanbul", "london", "shanghai", "cancun", "prague"];
        for (uint256 i = 0; i < hardforks.length; i++) {
            uint256 before = vm.snapshotState();
            vm.setEvmVersion(hardforks[i]);
            for (uint256 times = 0; times < 3; times++) {
                IMulticall3.Result[] memory results = send(batch(COUNT));
                vm.assertTrue(results[0].success, hardforks[i]);
                allAreSwept();
                isGone(init(COUNT));
            }
            vm.revertToState(before);
        }
    }

    function test_a_second_run_is_cheap() external {
        vm.setEvmVersion("prague");
        uint256 first = cost(batch(COUNT));
        uint256 second = cost(batch(COUNT));
        vm.assertTrue(second < first / 3, "the second one");
    }

    function test_two_batches_that_share_addresses_empty_all_of_them() external {
        send(batch(COUNT / 2));
        send(batch(COUNT));
        allAreSwept();
    }

    function test_a_stranger_who_copies_the_run_has_deployed_the_forwarders_for_us() external {
        bytes memory copy = abi.encodePacked(bytes32(0), init(COUNT));
        vm.prank(STRANGER);
        (bool ok,) = factory.call(copy);
        vm.assertTrue(ok, "it runs");
        isGone(init(COUNT));
        send(batch(COUNT));
        allAreSwept();
    }

    /// The one thing that still collides: nothing is destroyed before its transaction ends.
    function test_twice_in_one_transaction_the_second_run_fails_and_harms_nothing() external {
        bytes memory input = abi.encodePacked(bytes32(0), init(COUNT));
        (bool first, bool second) = new Twice().run(factory, input);
        vm.assertTrue(first && !second, "one of two");
        send(batch(COUNT));
        allAreSwept();
    }

    function test_an_entry_that_fails_keeps_no_other_from_being_deployed() external {
        bytes memory reverting = hex"60006000fd";
        bytes memory rest = new bytes(initCode(merchant).length - reverting.length);
        bytes memory bad = abi.encodePacked(address(0xBAD), bytes32(0), reverting, rest);
        send(withFlushes(abi.encodePacked(program, entries(3), bad, entries(COUNT)), COUNT));
        allAreSwept();
    }

    function test_fifty_entries_are_far_from_the_limit_for_init_code() external {
        vm.setEvmVersion("prague");
        for (uint256 i = COUNT; i < 50; i++) {
            token.mint(forwarder(i), PAID);
        }
        vm.assertTrue(init(50).length < 49_152 / 4, "EIP-3860");
        send(batch(50));
        for (uint256 i = 0; i < 50; i++) {
            isSwept(i);
        }
    }

    function test_no_entries_are_no_harm() external {
        (bool ok,) = factory.call(abi.encodePacked(bytes32(0), program));
        vm.assertTrue(ok, "it runs");
        isGone(program);
    }

    /// A list is data: whatever it says, the factory is called with it, and what that creates is at the address that
    /// its code gives it.
    function testFuzz_no_list_moves_what_lies_on_an_address(bytes calldata list, uint96 coins) external {
        deployOne(0);
        vm.deal(forwarder(0), coins);
        vm.deal(forwarder(1), coins);
        (bool ok,) = factory.call{gas: 1_000_000}(abi.encodePacked(bytes32(0), program, list));
        vm.assertTrue(ok || list.length > 209, "a list of one entry is harmless");
        for (uint256 i = 0; i < 2; i++) {
            vm.assertEq(forwarder(i).balance, coins, "coins");
            vm.assertEq(token.balanceOf(forwarder(i)), PAID, "tokens");
        }
        vm.assertEq(forwarder(0).code, runtime(destination(0)), "code");
    }

    function test_what_was_sent_to_its_address_before_keeps_nothing_from_being_emptied() external {
        address deployer = addressOf(init(COUNT));
        vm.deal(deployer, 1 ether);
        send(batch(COUNT));
        allAreSwept();
        isGone(init(COUNT));
        vm.assertEq(factory.balance, 1 ether, "where it must go somewhere");
    }

    /// Created by somebody who is no factory it calls that one, with nothing of value.
    function test_created_by_anybody_else_it_calls_whoever_created_it() external {
        bytes memory code = init(1);
        address created;
        assembly {
            created := create(0, add(code, 32), mload(code))
        }
        vm.assertEq(forwarder(0).code.length, 0, "nothing is deployed");
        vm.assertEq(calls, 1, "this contract was called");
    }

    uint256 private calls;

    fallback() external {
        calls++;
    }

    /// No storage, no DELEGATECALL, no CALLVALUE or balance that a call could carry along: one CALL, of the caller.
    function test_the_program_has_these_instructions_and_no_others() external view {
        // ADD LT CALLER CODESIZE CODECOPY EXTCODESIZE POP MLOAD JUMP JUMPI GAS JUMPDEST PUSH1 DUP1 DUP2 DUP3 CALL
        // SELFDESTRUCT
        bytes memory known = hex"0110333839" hex"3b50515657" hex"5a5b60808182" hex"f1ff";
        uint256[256] memory count;
        for (uint256 i = 0; i < program.length; i++) {
            uint8 opcode = uint8(program[i]);
            bool found = false;
            for (uint256 k = 0; k < known.length; k++) {
                found = found || known[k] == program[i];
            }
            vm.assertTrue(found, "a strange instruction");
            count[opcode]++;
            if (opcode == 0x60) i++;
        }
        vm.assertEq(count[0xf1], 1, "CALL");
        vm.assertEq(count[0xff], 1, "SELFDESTRUCT");
    }

    /// Every other one leads elsewhere.
    function destination(uint256 i) private view returns (address) {
        return i % 2 == 0 ? merchant : address(uint160(0xD0000 + i));
    }

    function forwarder(uint256 i) private view returns (address) {
        return predict(bytes32(i), destination(i));
    }

    function payload(uint256 i) private view returns (bytes memory) {
        return abi.encodePacked(i, initCode(destination(i)));
    }

    function entries(uint256 count) private view returns (bytes memory list) {
        for (uint256 i = 0; i < count; i++) {
            list = abi.encodePacked(list, forwarder(i), payload(i));
        }
    }

    function init(uint256 count) private view returns (bytes memory) {
        return abi.encodePacked(program, entries(count));
    }

    function batch(uint256 count) private view returns (IMulticall3.Call3[] memory) {
        return withFlushes(init(count), count);
    }

    function withFlushes(bytes memory code, uint256 count) private view returns (IMulticall3.Call3[] memory made) {
        made = new IMulticall3.Call3[](1 + count);
        made[0] = IMulticall3.Call3(factory, true, abi.encodePacked(bytes32(0), code));
        bytes memory flush = abi.encodeCall(IForwarder.flush, (address(token)));
        for (uint256 i = 0; i < count; i++) {
            made[1 + i] = IMulticall3.Call3(forwarder(i), true, flush);
        }
    }

    function send(IMulticall3.Call3[] memory made) private returns (IMulticall3.Result[] memory) {
        return MULTICALL3.aggregate3{gas: GAS}(made);
    }

    function cost(IMulticall3.Call3[] memory made) private returns (uint256) {
        uint256 before = gasleft();
        send(made);
        return before - gasleft();
    }

    function deployOne(uint256 i) private {
        vm.prank(STRANGER);
        (bool ok,) = factory.call(payload(i));
        vm.assertTrue(ok, "the factory deploys");
    }

    function addressOf(bytes memory code) private view returns (address) {
        bytes32 preimage = keccak256(abi.encodePacked(hex"ff", factory, bytes32(0), keccak256(code)));
        return address(uint160(uint256(preimage)));
    }

    /// Forge keeps the nonce of what is gone, though it does not collide with it: that is looked for in batch.test.mjs.
    function isGone(bytes memory code) private view {
        address deployer = addressOf(code);
        vm.assertEq(deployer.code.length, 0, "code");
        vm.assertEq(deployer.balance, 0, "balance");
    }

    function allAreSwept() private view {
        for (uint256 i = 0; i < COUNT; i++) {
            isSwept(i);
        }
    }

    function isSwept(uint256 i) private view {
        vm.assertEq(forwarder(i).code, runtime(destination(i)), "code");
        vm.assertEq(token.balanceOf(forwarder(i)), 0, "forwarder");
        vm.assertTrue(token.balanceOf(destination(i)) >= PAID, "destination");
    }
}
