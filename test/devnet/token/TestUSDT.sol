// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token that looks like USDT to a scanner, plus functions that make misleading logs.
contract TestUSDT {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;

    address public immutable owner;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    constructor() {
        owner = msg.sender;
        _mint(msg.sender, 1_000_000_000_000 * 10 ** decimals);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    /// A value of 0 needs no allowance, as with the real USDT: address poisoning uses this.
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "not enough allowance");
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    /// Several transfers in one transaction: one deposit each.
    function transferMany(address[] calldata to, uint256[] calldata values) external {
        require(to.length == values.length, "lengths differ");
        for (uint256 i = 0; i < to.length; i++) _move(msg.sender, to[i], values[i]);
    }

    /// Moves and then reverts: a failed transaction, without a log.
    function transferAndRevert(address to, uint256 value) external {
        _move(msg.sender, to, value);
        revert("reverted on purpose");
    }

    /// Emits a correct log and moves nothing. The Tron server reports a call of this as failed (out of time), with its log.
    function phantomTransfer(address to, uint256 value) external onlyOwner {
        emit Transfer(msg.sender, to, value);
    }

    function _mint(address to, uint256 value) private {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) private {
        require(balanceOf[from] >= value, "not enough balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
