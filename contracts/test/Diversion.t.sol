// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture, IForwarder} from "./support/Fixture.sol";
import {PlainToken, ReentrantToken} from "./support/Tokens.sol";

/// Anyone may flush; nobody can divert. The forwarder has no storage, so what one call cannot do, no sequence
/// of calls can.
contract DiversionTest is Fixture {
    PlainToken private token;
    ReentrantToken private hostile;

    function setUp() public override {
        super.setUp();
        token = new PlainToken();
        hostile = new ReentrantToken(address(token));
    }

    function testFuzz_anyone_may_flush_to_any_destination(
        address caller,
        address destination,
        uint128 amount,
        uint128 coins
    ) external {
        assumeOrdinary(caller);
        assumeOrdinary(destination);
        IForwarder forwarder = deploy(destination);
        vm.assume(caller != address(forwarder) && caller != destination);
        token.mint(address(forwarder), amount);
        vm.deal(address(forwarder), coins);
        uint256 before = destination.balance;

        vm.prank(caller);
        forwarder.flush(address(token));
        vm.prank(caller);
        forwarder.flush(COIN);

        vm.assertEq(token.balanceOf(destination), amount, "tokens at the destination");
        vm.assertEq(destination.balance, before + coins, "coins at the destination");
        vm.assertEq(token.balanceOf(address(forwarder)), 0, "tokens left");
        vm.assertEq(address(forwarder).balance, 0, "coins left");
    }

    /// Whatever anyone sends: what leaves the forwarder is at the destination, and the code is as it was.
    function testFuzz_no_call_moves_anything_elsewhere(address caller, bytes calldata data, uint128 value) external {
        holds(caller, data, value);
    }

    /// The same where it gets further: past the selector, with any word for the token and anything behind it.
    function testFuzz_no_flush_moves_anything_elsewhere(
        address caller,
        uint256 word,
        bytes calldata rest,
        uint128 value
    ) external {
        bytes4 selector = IForwarder.flush.selector;
        holds(caller, abi.encodePacked(selector, word, rest), value);
        holds(caller, abi.encodePacked(selector, pick(word), rest), value);
    }

    function test_a_token_that_calls_back_moves_everything_to_the_destination_alone() external {
        IForwarder forwarder = endowed();
        forwarder.flush(address(hostile));
        vm.assertEq(token.balanceOf(merchant), 1000, "token");
        vm.assertEq(hostile.balanceOf(merchant), 500, "hostile token");
        vm.assertEq(merchant.balance, 7 ether, "coins");
    }

    function test_every_selector_but_one_is_refused() external {
        address forwarder = address(endowed());
        bytes4 flush = IForwarder.flush.selector;
        for (uint256 bit = 0; bit < 32; bit++) {
            bytes4 near = bytes4(uint32(flush) ^ uint32(1 << bit));
            refuses(forwarder, abi.encodePacked(near, uint256(uint160(address(token)))));
        }
        refuses(forwarder, abi.encodeWithSignature("transfer(address,uint256)", STRANGER, 1));
        refuses(forwarder, abi.encodeWithSignature("execute(address,uint256,bytes)", STRANGER, 1, ""));
        refuses(forwarder, abi.encodeWithSignature("init(address)", STRANGER));
        refuses(forwarder, hex"79c76e");
    }

    function holds(address caller, bytes memory data, uint256 value) private {
        assumeOrdinary(caller);
        vm.assume(caller != merchant && caller != predict(0, merchant));
        uint256 state = vm.snapshotState();
        address forwarder = address(endowed());
        bytes32 code = keccak256(forwarder.code);
        vm.deal(caller, value);
        vm.prank(caller);
        (bool ok,) = forwarder.call{value: value}(data);

        vm.assertEq(token.balanceOf(forwarder) + token.balanceOf(merchant), 1000, "tokens");
        vm.assertEq(hostile.balanceOf(forwarder) + hostile.balanceOf(merchant), 500, "hostile tokens");
        vm.assertEq(forwarder.balance + merchant.balance, 7 ether + (ok ? value : 0), "coins");
        vm.assertEq(caller.balance, ok ? 0 : value, "the caller gains nothing");
        vm.assertEq(keccak256(forwarder.code), code, "code");
        vm.assertEq(vm.getNonce(forwarder), 1, "it has created nothing");
        vm.revertToState(state);
    }

    function endowed() private returns (IForwarder forwarder) {
        forwarder = deploy(merchant);
        token.mint(address(forwarder), 1000);
        hostile.mint(address(forwarder), 500);
        vm.deal(address(forwarder), 7 ether);
    }

    /// One of the words that mean something here, half of them with dirt above the address.
    function pick(uint256 word) private view returns (uint256 picked) {
        address[6] memory known =
            [COIN, address(token), address(hostile), factory, predict(0, merchant), address(uint160(word % 16))];
        picked = uint160(known[word % 6]);
        if (word & 0x80 != 0) picked |= (word >> 160) << 160;
    }

    function refuses(address forwarder, bytes memory data) private {
        (bool ok, bytes memory answer) = forwarder.call(data);
        vm.assertFalse(ok, "refused");
        vm.assertEq(answer.length, 0, "without a reason");
    }
}
