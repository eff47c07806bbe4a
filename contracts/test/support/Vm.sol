// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The few of forge's cheat codes that are used here.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function etch(address target, bytes calldata code) external;
    function deal(address who, uint256 balance) external;
    function prank(address sender) external;
    function assume(bool condition) external pure;
    function chainId(uint256 id) external;
    function setEvmVersion(string calldata hardfork) external;
    function expectRevert(bytes calldata reason) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory logs);
    function snapshotState() external returns (uint256 id);
    function revertToState(uint256 id) external returns (bool done);
    function startStateDiffRecording() external;
    function getNonce(address account) external view returns (uint64 nonce);

    function readFile(string calldata path) external view returns (string memory text);
    function keyExistsJson(string calldata json, string calldata key) external view returns (bool exists);
    function parseJsonAddress(string calldata json, string calldata key) external pure returns (address value);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory value);
    function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32 value);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory value);
    function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256 value);
    function parseBytes(string calldata text) external pure returns (bytes memory value);
    function trim(string calldata text) external pure returns (string memory trimmed);
    function toString(uint256 value) external pure returns (string memory text);

    function assertTrue(bool condition, string calldata what) external pure;
    function assertFalse(bool condition, string calldata what) external pure;
    function assertEq(uint256 left, uint256 right, string calldata what) external pure;
    function assertEq(address left, address right, string calldata what) external pure;
    function assertEq(bytes32 left, bytes32 right, string calldata what) external pure;
    function assertEq(bytes calldata left, bytes calldata right, string calldata what) external pure;
}
