// Limits of the client, per isolate or per invocation. Those of providers are in PROTOCOL.md, Rate limits and gateways.

/** Requests of one invocation at the same time: Workers open at most 6 connections. */
export const connectionsMax = 6
/** Bytes of one reply. 17 usual blocks have 4 MB, the largest possible block 5 MB (PROTOCOL.md, Sizes); 17 busy ones are split. */
export const replyBytesMax = 8 * 1024 * 1024
// An isolate has 128 MB. With the limits below a reply of the largest size takes at most 50 MB, parsed. Without them one of empty
// arrays takes 200 MB, and one long text with other characters 135 MB (workerd, November 2026, test/tron/transport/reply-memory.ts).
/** Least bytes of a reply for each value in it. Nodes write about 40, and 32 for logs without topics and data. */
export const bytesPerValueMin = 24
/** Longer replies are plain ASCII without escapes, as nodes write them. Other characters double the memory of a text. */
export const plainBytesMin = 1024 * 1024
/** Levels of nested arrays and objects. Nodes write 6. */
export const replyDepthMax = 16
/** Different keys in one reply. Nodes write about 60. Each new one takes more memory than its bytes. */
export const replyKeysMax = 256
/** Values that a reply can have whatever its length, since short replies can be dense. */
export const uncheckedValuesMax = 1_000
/** Replies of up to so many bytes are scanned as a whole. Of longer ones a sample is, while it is like what nodes write. */
export const unsampledBytesMax = 256 * 1024
/** Parts of a sample, each at a random place. */
export const sampleParts = 64
/** Bytes of each part. */
export const samplePartBytes = 1024
/** Least bytes for each value in a usual sample. */
export const usualBytesPerValue = 32
/** Different keys in a usual sample. */
export const usualKeysMax = 64
/** Bytes of a key that a sample compares. */
export const usualKeyBytes = 64
/** Characters from which on a reply is compared with the newest ones before it is parsed. */
export const sharedCharactersMin = 16 * 1024
/** How many of the newest ones: a range has blocks and logs of one node, and both together of another one. */
export const sharedRepliesMax = 4
/** First size of the buffer for a reply. It doubles when it is full. */
export const initialBufferBytes = 256 * 1024
/** Time for one request. It is less where no time would be left for another node. */
export const requestMs = 6_000
/** Least time for one request, where the deadline allows it. */
export const requestMsMin = 500
/** A node is slow where one request takes longer. */
export const slowMs = 2_000
/** How long all other nodes are used before a slow one. */
export const slowNodeMs = 600_000
/** Rest of a node for each millisecond of a slow request of a query that failed: it takes a fifth of the time at most. */
export const lostTimeRests = 4
/** Attempts of one query at one node. */
export const attemptsMax = 2
/**
 * Requests of one question at one node, all attempts together. 17 blocks of a node without batches take 54 the first time,
 * and 38 once that is learned.
 */
export const questionRequestsMax = 54
/** Part of the requests left that one question may use at one node, where there are other nodes. */
export const questionShareMax = 2 / 3
/** Requests that each question may use at one node in any case: most questions take two. */
export const questionRequestsMin = 3
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
/** Rest of a node of another chain: a balancer can have sent one query to a wrong node. */
export const wrongChainMs = 60_000
/** How long all other nodes are used before an outvoted one. */
export const outvotedMs = 600_000
/** How long all other nodes are used before one to which a question was too costly or its answer too large. */
export const costlyMs = 600_000
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
/** How long an HTTP API that did not serve a whole block is not asked for one. */
export const noBlocksMs = 600_000
/** How long a learned limit of calls per batch is used. */
export const batchLimitMs = 600_000
/** Unconfirmed blocks in one batch: 20 calls without chain id and newest header. In a normal rotation 18 are unconfirmed. */
export const unconfirmedBatchBlocks = 18
/** Such batches in one read: two rotations. */
export const unconfirmedBatchesMax = 2
/** Receipts that verify the logs of one block which were read by contract. */
export const filteredReceiptsMax = 270
/** Nodes that are asked in turn for the logs of several blocks, where some are unread and the quorum is lower. */
export const rangeSourcesMin = 2
/** Receipts in which such a block is searched for a log of another contract, to test the node's log index. */
export const indexTestReceiptsMax = 4
/** Where finalized heads differ by more blocks, further nodes are queried. Heads of honest nodes differ by one. */
export const headSpreadMax = 2

/**
 * Milliseconds that the timestamp of a node's finalized block may be ahead of this clock. A height that was stored once
 * never decreases, so an invented one must not be stored.
 */
export const aheadMsMax = 60_000

/** Characters of one node's text in an alarm. */
export const alarmTextMax = 300
