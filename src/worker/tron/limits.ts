// Limits of the client. Those of nodes and providers are in PROTOCOL.md, Rate limits and gateways.

/** Requests at the same time: Workers open at most 6 connections. */
export const connectionsMax = 6
/** How many of them requests have that are not those of a tick: slow replies to callers keep no tick waiting. */
export const otherConnectionsMax = 4
/** Bytes of one reply as it arrives: far more than those of the largest possible block (PROTOCOL.md, Sizes). */
export const receivedBytesMax = 32 * 1024 * 1024
/** Bytes of one reply that are kept and parsed. The largest possible block has 4.3 MB (PROTOCOL.md, Sizes). */
export const replyBytesMax = 4.5 * 1024 * 1024
// An isolate has 128 MB. With the limits below a reply takes at most 30 MB, parsed, and six that arrive at once 90 MB.
// Without them one of empty arrays takes 200 MB (workerd, November 2026, test/tron/transport/reply-memory.ts).
/** Least kept bytes for each value. Nodes write about 40, and 31 for logs without topics and data. */
export const bytesPerValueMin = 28
/** Values that a reply can have whatever its length, since short replies can be dense. */
export const uncheckedValuesMax = 1_000
/** Longer replies are plain ASCII without escapes, as nodes write them. Other characters double the memory of a text. */
export const plainBytesMin = 1024 * 1024
/** Levels of nested arrays and objects. Nodes write 6. */
export const replyDepthMax = 16
/** Different keys in one reply. Nodes write about 60. Each new one takes more memory than its bytes. */
export const replyKeysMax = 256
/** A reply of up to so many bytes is read at any time. */
export const smallReplyBytes = 256 * 1024
/** Longer ones that are read at the same time. Others wait. */
export const largeRepliesMax = 2

/** Time for one request. */
export const requestMs = 6_000
/** A request is not begun with less time left: nobody would hear its answer. */
export const answerMsMin = 500
/** Part of the time that is left that one node gets for all that one question asks of it. Then another one is asked. */
export const nodePart = 1 / 3
/** Least such time, where the deadline allows it. */
export const nodeMsMin = 2_000
/** Most such time. */
export const nodeMsMax = 10_000
/** A node is slow where one request takes longer. */
export const slowMs = 2_000
/** Pause before the only repetition of a request that failed at a node that was well. */
export const retryMs = 200
/** Rest of a service after a failure. It doubles with each further one. All rests have jitter of up to half. */
export const restMs = 1_000
/** Longest such rest. */
export const restMsMax = 60_000
/** Rest of a service that limits the rate. It doubles each time. TronGrid suspends a client for 5 to 30 s. */
export const rateLimitMs = 30_000
/** Longest such rest. */
export const rateLimitMsMax = 240_000
/** Rest of a node of another chain: a balancer can have sent one query to a wrong node. */
export const wrongChainMs = 60_000
/** How long a probe counts that found a node fit, unless the node fails. */
export const probedMs = 6 * 3_600_000
/** How long a node that a probe found unfit is not used. */
export const unfitMs = 60_000
/** How long all other nodes are used before one that was outvoted or slow. It doubles each time that it is slow again. */
export const demotedMs = 600_000
/** Longest such time, and that of one which has shown many transfers that are in no final block. */
export const distrustedMs = 6 * 3_600_000
/** So many transfers of one node within `falseSeenMs` that are in no final block are no fork of the newest blocks. */
export const falseSeenMax = 20
export const falseSeenMs = 3_600_000
/** How long all other nodes are used before one that is behind. */
export const behindMs = 60_000
/** A node that is well again after so long counts as recovered: what was not read because of it is read again. */
export const troubleMsMin = 300_000
/** How long a node that refused a batch gets smaller ones. */
export const smallBatchesMs = 600_000

/** JSON-RPC calls in one HTTP request. java-tron takes 100 from 4.8.2 on; gateways have lower limits. */
export const batchCallsMax = 20
/** Kept bytes of blocks that one question is to have: two thirds of the limit, since blocks differ. 9 busy blocks, 7 arrive in 20 s. */
export const questionBytes = (replyBytesMax * 2) / 3
/** Blocks of one question to a node that takes no batches: the logs of each are a request. Where one takes 300 ms, those fit its time. */
export const singleBlocksMax = 20
/** Kept bytes of a block before the first one was read. */
export const blockBytesAtFirst = 256 * 1024
/** Receipts that a probe compares with the logs of the same block. */
export const probeReceiptsMax = 8
/** Where finalized heads differ by more blocks, a further node is asked. Heads of honest nodes differ by one. */
export const headSpreadMax = 2
/** Heights at which a vote about the finalized head is tried, each of them claimed by a node. */
export const headHeightsMax = 3
/** A node is behind where its finalized head is so many blocks below the newest one that a node claims: those of a minute. */
export const headLagBlocksMax = 20
/** A node is behind where its finalized head is older than this, and that of another one is not. */
export const headAgeMsMax = 120_000
/** A node that is behind, or fails at each request, for so long raises an alarm. */
export const troubleAlarmMs = 180_000
/** Milliseconds that a block may be ahead of the clock. */
export const aheadMsMax = 60_000
/** Blocks that a node may show above a final one beyond the slots since then: clocks differ. */
export const headSlackBlocks = 20
/** Characters of one node's text in an alarm. */
export const alarmTextMax = 300
