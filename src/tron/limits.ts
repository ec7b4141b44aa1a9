// Limits of the client, per isolate or per invocation. Those of providers are in PROTOCOL.md, Rate limits and gateways.

/** Requests of one invocation at the same time: Workers open at most 6 connections. */
export const connectionsMax = 6
/** Bytes of one reply. 17 busy blocks have 11 MB, the largest possible block 5 MB (PROTOCOL.md, Sizes); an isolate has 128 MB. */
export const replyBytesMax = 16 * 1024 * 1024
/**
 * Least bytes of a reply for each value in it; nodes write about 40. A reply of the largest size that consists of empty
 * arrays would take 200 to 500 MB when it is parsed (measured November 2026), and the platform would stop the isolate.
 */
export const bytesPerValueMin = 16
/** Values that a reply can have whatever its length, since short replies can be dense. */
export const uncheckedValuesMax = 1_000
/** First size of the buffer for a reply. It doubles when it is full. */
export const initialBufferBytes = 256 * 1024
/** Time for one request. It is less where no time would be left for another node. */
export const requestMs = 6_000
/** Least time for one request, where the deadline allows it. */
export const requestMsMin = 500
/** Attempts of one query at one node. */
export const attemptsMax = 2
/** Longest wait for a resting node when no other node is left. */
export const waitMsMax = 1_500

/** Rest of a node after a failure. It doubles with each further failure in a row. All rests have jitter of up to half. */
export const backoffMs = 160
/** Failures in a row that open the circuit breaker. */
export const breakerFailures = 5
/** Rest of a node with an open breaker. It doubles with each failed trial. */
export const breakerMs = 60_000
/** Longest such rest. */
export const breakerMsMax = 600_000
/** Rest of a node that limits the rate. It doubles each time. TronGrid suspends a client for 5 to 30 s. */
export const rateLimitMs = 30_000
/** Longest such rest. */
export const rateLimitMsMax = 240_000
/** Rest of a node of another chain. */
export const wrongChainMs = 3_600_000
/** How long all other nodes are used before an outvoted one. */
export const outvotedMs = 600_000
/** How long all other nodes are used before one that is behind. */
export const lagMs = 60_000

/** A node that a probe found unfit is probed again after this time: a balancer can have nodes of several versions. */
export const unfitMs = 60_000
/** Longest time that other invocations wait for a running probe. */
export const probeMs = 12_000
/** Interval at which they check whether it has ended. */
export const probePollMs = 50
/** Receipts that a probe compares with the logs of the same block. */
export const probeReceiptsMax = 8
/** JSON-RPC calls in one HTTP request. java-tron takes 100 from 4.8.2 on; gateways have lower limits. */
export const batchCallsMax = 20
/** How long a learned limit of calls per batch is used. */
export const batchLimitMs = 600_000
/** Unconfirmed blocks in one batch: 20 calls without chain id and newest header. In a normal rotation 18 are unconfirmed. */
export const unconfirmedBatchBlocks = 18
/** Such batches in one read: two rotations. */
export const unconfirmedBatchesMax = 2
/** Where finalized heads differ by more blocks, further nodes are queried. Heads of honest nodes differ by one. */
export const headSpreadMax = 2

/** Least time between two alarms about the same fault. */
export const alarmRepeatMs = 3_600_000
/** Alarms that are remembered for that. With more of them all are forgotten. */
export const alarmsMax = 200
/** Characters of one node's text in an alarm. */
export const alarmTextMax = 300
