// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IForwarder} from "./Fixture.sol";

/// The tokens merchants are paid in, and some that nobody should be: each with what is odd about it.
abstract contract Token {
    event Transfer(address indexed from, address indexed to, uint256 amount);

    mapping(address => uint256) internal balances;

    function mint(address to, uint256 amount) external {
        balances[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function balanceOf(address account) external view virtual returns (uint256) {
        return balances[account];
    }

    function move(address to, uint256 amount) internal {
        require(balances[msg.sender] >= amount, "balance too low");
        balances[msg.sender] -= amount;
        balances[to] += amount;
        emit Transfer(msg.sender, to, amount);
    }
}

contract PlainToken is Token {
    function transfer(address to, uint256 amount) external virtual returns (bool) {
        move(to, amount);
        return true;
    }
}

/// Returns nothing, like USDT on Ethereum.
contract SilentToken is Token {
    function transfer(address to, uint256 amount) external {
        move(to, amount);
    }
}

/// Succeeds and returns false, like USDT on TRON.
contract FalseToken is Token {
    function transfer(address to, uint256 amount) external returns (bool) {
        move(to, amount);
        return false;
    }
}

/// Refuses by returning false, as some old tokens do.
contract RefusingToken is Token {
    bool public refuses = true;

    function relent() external {
        refuses = false;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (!refuses) move(to, amount);
        return !refuses;
    }
}

contract PausableToken is Token {
    bool public paused;

    function pause(bool yes) external {
        paused = yes;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        require(!paused, "Pausable: paused");
        move(to, amount);
        return true;
    }
}

/// Looks at both sides of a transfer, like USDC.
contract BlacklistingToken is Token {
    mapping(address => bool) public isBlacklisted;

    function blacklist(address account, bool yes) external {
        isBlacklisted[account] = yes;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        require(!isBlacklisted[msg.sender] && !isBlacklisted[to], "Blacklistable: account is blacklisted");
        move(to, amount);
        return true;
    }
}

/// Keeps 20 of 10,000 for its owner, as USDT could.
contract FeeToken is Token {
    address public constant OWNER = address(0xFEE);

    function transfer(address to, uint256 amount) external {
        uint256 fee = amount / 500;
        move(to, amount - fee);
        if (fee > 0) move(OWNER, fee);
    }
}

/// Claims to hold more than it does.
contract BoastingToken is PlainToken {
    function balanceOf(address account) external view override returns (uint256) {
        return balances[account] + 1;
    }
}

/// Answers balanceOf with as many bytes as it is told, or with an error.
contract MumblingToken is PlainToken {
    uint256 private immutable length;
    bool private immutable fails;

    constructor(uint256 bytes_, bool fails_) {
        length = bytes_;
        fails = fails_;
    }

    function balanceOf(address) external view override returns (uint256) {
        (uint256 size, bool failing) = (length, fails);
        assembly {
            if failing { revert(0, size) }
            return(0, size)
        }
    }
}

/// Calls the forwarder back in the middle of a transfer, for another token and for the coin.
contract ReentrantToken is PlainToken {
    address private immutable other;

    constructor(address other_) {
        other = other_;
    }

    function transfer(address to, uint256 amount) external override returns (bool) {
        IForwarder(msg.sender).flush(other);
        IForwarder(msg.sender).flush(address(0));
        move(to, amount);
        return true;
    }
}
