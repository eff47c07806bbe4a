// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// What the forwarder does, to be read. What is deployed is forwarder.asm, whose every call is held against
/// this contract's by test/Meaning.t.sol. This one is never deployed: its addresses would be others.
contract Forwarder {
    address private immutable destination;

    constructor(address merchant) {
        destination = merchant;
    }

    /// The native coin may arrive at any time.
    receive() external payable {}

    /// flush(address token): sends all there is of a token to the destination, of the native coin for token 0.
    /// Written as a fallback to say exactly what happens to data of another length: what is missing reads as
    /// zero, what is too much is ignored, and coins sent along stay or go with the rest.
    fallback() external payable {
        if (msg.sig != bytes4(keccak256("flush(address)"))) revert();
        uint256 token;
        assembly {
            token := calldataload(4)
        }
        if (token == 0) flushCoin();
        else flushToken(address(uint160(token)));
    }

    function flushCoin() private {
        (bool ok, bytes memory answer) = destination.call{value: address(this).balance}("");
        if (!ok) fail(answer);
    }

    function flushToken(address token) private {
        (bool ok, bytes memory answer) = token.staticcall(abi.encodeWithSignature("balanceOf(address)", address(this)));
        if (!ok || answer.length < 32) fail(answer);
        uint256 balance = abi.decode(answer, (uint256));
        // What transfer returns is not read: USDT returns nothing, and on TRON false when it has succeeded.
        (ok, answer) = token.call(abi.encodeWithSignature("transfer(address,uint256)", destination, balance));
        if (!ok) fail(answer);
    }

    /// Reverts for the reason of whoever was called.
    function fail(bytes memory reason) private pure {
        assembly {
            revert(add(reason, 32), mload(reason))
        }
    }
}
