// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture, IForwarder} from "./support/Fixture.sol";
import "./support/Tokens.sol";
import {Vm} from "./support/Vm.sol";

/// Each kind of token, flushed by a stranger.
contract TokensTest is Fixture {
    uint256 private constant PAID = 1_000_000;

    function test_a_normal_token_goes_to_the_destination_with_one_log() external {
        PlainToken token = new PlainToken();
        IForwarder forwarder = paid(token);
        vm.recordLogs();
        flush(forwarder, token);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs.length, 1, "logs");
        vm.assertEq(logs[0].topics[0], Token.Transfer.selector, "event");
        vm.assertEq(logs[0].topics[1], bytes32(uint256(uint160(address(forwarder)))), "from");
        vm.assertEq(logs[0].topics[2], bytes32(uint256(uint160(merchant))), "to");
        vm.assertEq(logs[0].data, abi.encode(PAID), "amount");
        isFlushed(forwarder, token);
    }

    function test_a_token_that_was_paid_before_the_deployment_goes_to_the_destination() external {
        PlainToken token = new PlainToken();
        token.mint(predict(0, merchant), PAID);
        IForwarder forwarder = deploy(merchant);
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }

    function test_an_address_is_flushed_as_often_as_it_is_paid() external {
        PlainToken token = new PlainToken();
        IForwarder forwarder = paid(token);
        flush(forwarder, token);
        token.mint(address(forwarder), 5);
        flush(forwarder, token);
        vm.assertEq(token.balanceOf(merchant), PAID + 5, "destination");
    }

    function test_flushing_nothing_succeeds_and_moves_nothing() external {
        PlainToken token = new PlainToken();
        flush(deploy(merchant), token);
        vm.assertEq(token.balanceOf(merchant), 0, "destination");
    }

    function test_a_token_that_returns_nothing_goes_to_the_destination() external {
        SilentToken token = new SilentToken();
        IForwarder forwarder = paid(token);
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }

    function test_a_token_that_returns_false_on_success_goes_to_the_destination() external {
        FalseToken token = new FalseToken();
        IForwarder forwarder = paid(token);
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }

    function test_a_token_that_refuses_by_returning_false_stays_and_can_be_flushed_later() external {
        RefusingToken token = new RefusingToken();
        IForwarder forwarder = paid(token);
        flush(forwarder, token);
        vm.assertEq(token.balanceOf(address(forwarder)), PAID, "forwarder");
        token.relent();
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }

    function test_a_paused_token_stays_with_its_reason_and_can_be_flushed_later() external {
        PausableToken token = new PausableToken();
        IForwarder forwarder = paid(token);
        token.pause(true);
        vm.expectRevert(abi.encodeWithSignature("Error(string)", "Pausable: paused"));
        forwarder.flush(address(token));
        vm.assertEq(token.balanceOf(address(forwarder)), PAID, "forwarder");
        token.pause(false);
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }

    function test_a_blacklisted_forwarder_keeps_the_token_until_it_is_taken_off_the_list() external {
        BlacklistingToken token = new BlacklistingToken();
        IForwarder forwarder = paid(token);
        staysWhileListed(forwarder, token, address(forwarder));
    }

    function test_a_blacklisted_destination_leaves_the_token_at_the_forwarder_until_it_is_taken_off_the_list()
        external
    {
        BlacklistingToken token = new BlacklistingToken();
        IForwarder forwarder = paid(token);
        staysWhileListed(forwarder, token, merchant);
    }

    function test_a_blacklist_of_one_token_does_not_hold_back_another() external {
        BlacklistingToken listed = new BlacklistingToken();
        PlainToken token = new PlainToken();
        IForwarder forwarder = paid(token);
        listed.mint(address(forwarder), PAID);
        listed.blacklist(address(forwarder), true);
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }

    function test_of_a_fee_taking_token_the_destination_gets_all_but_the_fee() external {
        FeeToken token = new FeeToken();
        IForwarder forwarder = paid(token);
        flush(forwarder, token);
        vm.assertEq(token.balanceOf(address(forwarder)), 0, "forwarder");
        vm.assertEq(token.balanceOf(merchant), PAID - PAID / 500, "destination");
        vm.assertEq(token.balanceOf(token.OWNER()), PAID / 500, "owner");
    }

    function test_a_token_that_claims_more_than_it_has_fails_with_its_reason() external {
        BoastingToken token = new BoastingToken();
        IForwarder forwarder = paid(token);
        vm.expectRevert(abi.encodeWithSignature("Error(string)", "balance too low"));
        forwarder.flush(address(token));
    }

    function test_a_balance_of_fewer_than_32_bytes_is_no_answer() external {
        IForwarder forwarder = deploy(merchant);
        vm.assertFalse(tries(forwarder, address(new MumblingToken(31, false))), "31 bytes");
        vm.assertFalse(tries(forwarder, address(new MumblingToken(0, false))), "none");
        vm.assertFalse(tries(forwarder, address(new MumblingToken(32, true))), "an error of 32 bytes");
        vm.assertTrue(tries(forwarder, address(new MumblingToken(33, false))), "33 bytes");
    }

    function test_an_account_without_code_is_no_token() external {
        IForwarder forwarder = deploy(merchant);
        vm.assertFalse(tries(forwarder, STRANGER), "nobody");
        vm.assertFalse(tries(forwarder, merchant), "the destination");
        vm.assertFalse(tries(forwarder, address(forwarder)), "itself");
    }

    function paid(Token token) private returns (IForwarder forwarder) {
        forwarder = deploy(merchant);
        token.mint(address(forwarder), PAID);
    }

    function flush(IForwarder forwarder, Token token) private {
        vm.prank(STRANGER);
        forwarder.flush(address(token));
    }

    function tries(IForwarder forwarder, address token) private returns (bool ok) {
        (ok,) = address(forwarder).call{gas: 1_000_000}(abi.encodeCall(IForwarder.flush, (token)));
    }

    function isFlushed(IForwarder forwarder, Token token) private view {
        vm.assertEq(token.balanceOf(address(forwarder)), 0, "forwarder");
        vm.assertEq(token.balanceOf(merchant), PAID, "destination");
    }

    function staysWhileListed(IForwarder forwarder, BlacklistingToken token, address listed) private {
        token.blacklist(listed, true);
        vm.expectRevert(abi.encodeWithSignature("Error(string)", "Blacklistable: account is blacklisted"));
        forwarder.flush(address(token));
        vm.assertEq(token.balanceOf(address(forwarder)), PAID, "forwarder");
        token.blacklist(listed, false);
        flush(forwarder, token);
        isFlushed(forwarder, token);
    }
}
