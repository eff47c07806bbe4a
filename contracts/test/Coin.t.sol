// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {CountingWallet, ReentrantWallet, RefusingWallet} from "./support/Destinations.sol";
import {Fixture, IForwarder} from "./support/Fixture.sol";

/// The native coin.
contract CoinTest is Fixture {
    uint256 private constant PAID = 3 ether;

    function test_a_coin_may_come_with_no_more_gas_than_a_stipend() external {
        address payable forwarder = payable(address(deploy(merchant)));
        (bool ok,) = forwarder.call{value: PAID, gas: 0}("");
        vm.assertTrue(ok, "2,300 gas are enough");
        vm.assertEq(forwarder.balance, PAID, "forwarder");
    }

    function test_a_coin_goes_to_the_destination() external {
        IForwarder forwarder = paid(merchant);
        flush(forwarder);
        isFlushed(forwarder, merchant);
    }

    function test_a_coin_that_was_paid_before_the_deployment_goes_to_the_destination() external {
        vm.deal(predict(0, merchant), PAID);
        IForwarder forwarder = deploy(merchant);
        flush(forwarder);
        isFlushed(forwarder, merchant);
    }

    function test_a_coin_sent_along_with_a_flush_goes_to_the_destination_too() external {
        IForwarder forwarder = paid(merchant);
        forwarder.flush{value: 1 ether}(COIN);
        vm.assertEq(merchant.balance, PAID + 1 ether, "destination");
    }

    function test_flushing_nothing_succeeds() external {
        flush(deploy(merchant));
        vm.assertEq(merchant.balance, 0, "destination");
    }

    function test_a_contract_wallet_gets_all_the_gas_it_needs() external {
        CountingWallet wallet = new CountingWallet();
        IForwarder forwarder = paid(address(wallet));
        flush(forwarder);
        vm.assertEq(wallet.received(), PAID, "wallet");
    }

    function test_a_destination_that_refuses_leaves_the_coin_where_it_is_with_its_reason() external {
        IForwarder forwarder = paid(address(new RefusingWallet()));
        vm.expectRevert(abi.encodeWithSignature("Error(string)", "no coins here"));
        forwarder.flush(COIN);
        vm.assertEq(address(forwarder).balance, PAID, "forwarder");
    }

    function test_a_destination_that_calls_back_is_paid_once() external {
        address wallet = address(new ReentrantWallet());
        IForwarder forwarder = paid(wallet);
        flush(forwarder);
        isFlushed(forwarder, wallet);
    }

    function test_a_flush_with_too_little_gas_moves_nothing() external {
        address wallet = address(new CountingWallet());
        IForwarder forwarder = paid(wallet);
        bool ok = false;
        for (uint256 gas = 0; !ok && gas < 100_000; gas += 500) {
            (ok,) = address(forwarder).call{gas: gas}(abi.encodeCall(IForwarder.flush, (COIN)));
            vm.assertEq(address(forwarder).balance, ok ? 0 : PAID, "forwarder");
            vm.assertEq(wallet.balance, ok ? PAID : 0, "wallet");
        }
        vm.assertTrue(ok, "with enough it does");
    }

    function paid(address destination) private returns (IForwarder forwarder) {
        forwarder = deploy(destination);
        vm.deal(address(forwarder), PAID);
    }

    function flush(IForwarder forwarder) private {
        vm.prank(STRANGER);
        forwarder.flush(COIN);
    }

    function isFlushed(IForwarder forwarder, address destination) private view {
        vm.assertEq(address(forwarder).balance, 0, "forwarder");
        vm.assertEq(destination.balance, PAID, "destination");
    }
}
