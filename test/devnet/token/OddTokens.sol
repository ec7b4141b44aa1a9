// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token whose transfers change nothing and return false: some do that where others revert.
contract FalseToken {
    uint8 public constant decimals = 6;

    function balanceOf(address) external pure returns (uint256) {
        return 1_000_000_000;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// A token whose transfers revert, as those of a token that is paused.
contract RevertingToken {
    uint8 public constant decimals = 6;

    function balanceOf(address) external pure returns (uint256) {
        return 1_000_000_000;
    }

    function transfer(address, uint256) external pure returns (bool) {
        revert("paused");
    }
}
