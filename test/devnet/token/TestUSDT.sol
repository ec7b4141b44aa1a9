// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface Successor {
    function transferByLegacy(address from, address to, uint256 value) external returns (bool);
}

/// A token that looks like USDT to a scanner, with what its issuer can do (Tether's events), plus functions that make misleading logs.
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
    event Pause();
    event Unpause();
    event Params(uint256 feeBasisPoints, uint256 maxFee);
    event Deprecate(address newAddress);

    mapping(address => bool) public isBlackListed;
    bool public paused;
    uint256 public basisPointsRate;
    uint256 public maximumFee;
    address public upgradedAddress;
    /// Where the events of freezing have their address: as a topic, as mainnet's USDT, or in the data.
    bool public hasAddressInData;

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    constructor() {
        owner = msg.sender;
        _mint(msg.sender, 1_000_000_000_000 * 10 ** decimals);
    }

    /// In a deprecated token, the successor makes the transfer and its event.
    function transfer(address to, uint256 value) external returns (bool) {
        require(!paused, "paused");
        require(!isBlackListed[msg.sender], "frozen");
        if (upgradedAddress != address(0)) return Successor(upgradedAddress).transferByLegacy(msg.sender, to, value);
        uint256 fee = (value * basisPointsRate) / 10_000;
        if (fee > maximumFee) fee = maximumFee;
        _move(msg.sender, to, value - fee);
        if (fee > 0) _move(msg.sender, owner, fee);
        return true;
    }

    function transferByLegacy(address from, address to, uint256 value) external returns (bool) {
        _move(from, to, value);
        return true;
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
        _logAddress(keccak256("AddedBlackList(address)"), user, "");
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
        _logAddress(keccak256("RemovedBlackList(address)"), user, "");
    }

    /// Emits no Transfer event, like the contract of Tether.
    function destroyBlackFunds(address user) external onlyOwner {
        require(isBlackListed[user], "not frozen");
        uint256 funds = balanceOf[user];
        balanceOf[user] = 0;
        totalSupply -= funds;
        _logAddress(keccak256("DestroyedBlackFunds(address,uint256)"), user, abi.encode(funds));
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    function setParams(uint256 basisPoints, uint256 maxFee) external onlyOwner {
        basisPointsRate = basisPoints;
        maximumFee = maxFee;
        emit Params(basisPoints, maxFee);
    }

    function deprecate(address successor) external onlyOwner {
        upgradedAddress = successor;
        emit Deprecate(successor);
    }

    function setAddressInData(bool inData) external onlyOwner {
        hasAddressInData = inData;
    }

    /// Sends TRX from this contract, in internal transactions, which have no log.
    function sendTrx(address payable[] calldata to, uint256[] calldata values) external payable {
        for (uint256 i = 0; i < to.length; i++) {
            (bool sent, ) = to[i].call{value: values[i]}("");
            require(sent, "not sent");
        }
    }

    /// Solidity cannot declare one event in two forms, so both are written by hand.
    function _logAddress(bytes32 signature, address user, bytes memory rest) private {
        bool inData = hasAddressInData;
        bytes memory data = inData ? abi.encodePacked(abi.encode(user), rest) : rest;
        assembly {
            switch inData
            case 0 { log2(add(data, 32), mload(data), signature, user) }
            default { log1(add(data, 32), mload(data), signature) }
        }
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
