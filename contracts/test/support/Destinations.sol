// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IForwarder} from "./Fixture.sol";

/// A wallet that takes no coin, and says why.
contract RefusingWallet {
    receive() external payable {
        revert("no coins here");
    }
}

/// A wallet that does more than a stipend pays for when a coin arrives, as contract wallets do.
contract CountingWallet {
    uint256 public received;

    receive() external payable {
        received += msg.value;
    }
}

/// A wallet that calls the forwarder back in the hope of being paid again.
contract ReentrantWallet {
    receive() external payable {
        if (msg.value > 0) IForwarder(msg.sender).flush(address(0));
    }
}
