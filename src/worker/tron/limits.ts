// Limits that this service sets itself as a client of nodes. PROTOCOL.md (Rate limits and gateways)
// has the limits of nodes and providers.

/** The most requests at the same time, because Workers open at most 6 connections. */
export const connectionsMax = 6
/**
 * The most connections for requests of other work than ticks, so that slow replies to it never
 * delay a tick.
 */
export const otherConnectionsMax = 4
/**
 * The most connections on which payouts are sent to one node at a time, so that a node that hangs
 * leaves connections for the others.
 */
export const sendingConnectionsMax = 2
/**
 * The most bytes of a reply as it arrives, before `reply-scan.ts` drops members. The largest
 * possible block has far fewer (PROTOCOL.md, Sizes).
 */
export const receivedBytesMax = 32 * 1024 * 1024
/**
 * The most bytes of a reply that `reply-scan.ts` keeps to be parsed. The largest possible block has
 * 4.3 MB (PROTOCOL.md, Sizes).
 */
export const replyBytesMax = 4.5 * 1024 * 1024
// An isolate has 128 MB. With these limits a parsed reply takes at most 30 MB, and six that arrive
// at once take 90 MB. Without them a reply of empty arrays could take 200 MB (workerd, November
// 2026, test/tron/transport/reply-memory.ts).
/**
 * A long reply must have at least this many kept bytes for each value. Nodes write about 40, and 31
 * for logs without topics and data.
 */
export const bytesPerValueMin = 28
/** Values that a reply may have whatever its length, because short replies can be dense. */
export const uncheckedValuesMax = 1_000
/**
 * A reply longer than this, in bytes, must be plain ASCII without escapes, as nodes write it. Other
 * characters double the memory of a text.
 */
export const plainBytesMin = 1024 * 1024
/** The deepest nesting of arrays and objects in a reply. Nodes write 6 levels. */
export const replyDepthMax = 16
/**
 * Most different keys in one reply. Nodes write about 60. Each new key takes more memory than its
 * bytes.
 */
export const replyKeysMax = 256
/** A reply up to this size is read at once, and does not wait for other replies. */
export const smallReplyBytes = 256 * 1024
/**
 * The most replies larger than `smallReplyBytes` that are read at the same time. Further ones wait.
 */
export const largeRepliesMax = 2

/** Time limit of one request to a node. */
export const requestMs = 6_000
/** A request is not begun with less time left than this: its answer would come too late. */
export const answerMsMin = 500
/**
 * The share of the time until the deadline that one node gets for one query. After that another
 * node is asked.
 */
export const nodePart = 1 / 3
/** The least time that one node gets for one query, if the deadline allows it. */
export const nodeMsMin = 2_000
/** The most time that one node gets for one query. */
export const nodeMsMax = 10_000
/**
 * The most time that one node gets to answer a broadcast. A node that hangs delays only some
 * payouts, and those by no more than this.
 */
export const broadcastMs = 2_000
/** A node that takes longer than this for one request is slow. */
export const slowMs = 2_000
/** Pause before the single retry of a request that failed at a healthy node. */
export const retryMs = 200
/**
 * How long a node's service is not used after a failure (its rest). Doubles with each further
 * failure. A random part of up to half is added to each rest.
 */
export const restMs = 1_000
/** Longest rest of a service after failures. */
export const restMsMax = 60_000
/**
 * Rest of a service that has refused a request because it got too many. Doubles with each refusal.
 * TronGrid suspends a client for 5 to 30 s.
 */
export const rateLimitMs = 30_000
/** Longest rest of a service that has refused requests because it got too many. */
export const rateLimitMsMax = 240_000
/**
 * Rest of a node that has answered with the id of another chain. It is short, because a load
 * balancer may have misdirected one query.
 */
export const wrongChainMs = 60_000
/** How long a node is not probed again after a successful probe, unless the node fails. */
export const probedMs = 6 * 3_600_000
/**
 * A node without a receipt that it should have is probed again at once, but not more often than
 * this.
 */
export const doubtedMs = 60_000
/** How long a node is not used after a probe found it unfit. */
export const unfitMs = 60_000
/**
 * A node that was outvoted or slow is demoted: for this long all other nodes are used before it.
 * The time doubles each time the node is slow again.
 */
export const demotedMs = 600_000
/**
 * The longest demotion. A node that has shown more than `falseSeenMax` transfers that came into no
 * final block is demoted for this long.
 */
export const distrustedMs = 6 * 3_600_000
/**
 * If a node shows more transfers than this within `falseSeenMs` that come into no final block, it
 * invents them. A fork of the newest blocks has fewer.
 */
export const falseSeenMax = 20
export const falseSeenMs = 3_600_000
/**
 * How long all other nodes are used before a node that is behind (`headLagBlocksMax`,
 * `headAgeMsMax`).
 */
export const behindMs = 60_000
/**
 * A node that is healthy again after at least this much trouble counts as recovered. Then blocks
 * that could not be read are tried again at once.
 */
export const troubleMsMin = 300_000
/** How long a node that refused a batch gets smaller ones. */
export const smallBatchesMs = 600_000

/**
 * Most JSON-RPC calls in one HTTP request. java-tron accepts 100 from 4.8.2 on; gateways have lower
 * limits.
 */
export const batchCallsMax = 20
/**
 * Kept bytes that one query for blocks aims at: two thirds of `replyBytesMax`, because blocks
 * differ. That is 9 busy blocks; the chain makes 7 in 20 s.
 */
export const queryBytes = (replyBytesMax * 2) / 3
/**
 * Most blocks in a query to a node that takes no batches: the logs of each block take one request.
 * At 300 ms each, the requests fit into `nodeMsMax`.
 */
export const singleBlocksMax = 20
/** The kept bytes that a block is assumed to have before any block was read. */
export const blockBytesAtFirst = 256 * 1024
/** How many receipts of a block a probe compares with the block's logs. */
export const probeReceiptsMax = 8
/**
 * If the finalized heads of nodes differ by more blocks than this, one more node is asked. Those of
 * honest nodes differ by one block.
 */
export const headSpreadMax = 2
/**
 * The most heights that are tried until the nodes agree on a finalized head. Each tried height is
 * the finalized head of a node.
 */
export const headHeightsMax = 3
/**
 * So many blocks below the stored head the blocks are that are asked for its time, one after the
 * other, until nodes agree on one.
 */
export const timedBelow = [0, 1, 4, 16, 64] as const
/**
 * A node is behind if its finalized head is this many blocks (one minute) below the newest one that
 * a node claims.
 */
export const headLagBlocksMax = 20
/** A node is behind if its finalized head is older than this and another node's is not. */
export const headAgeMsMax = 120_000
/** A node that is behind, or fails at a question, for this long raises an alarm. */
export const troubleAlarmMs = 180_000
/**
 * A node that has given no block for this long is checked, so that a node that the scan does
 * without has an alarm within five minutes, too.
 */
export const checkMs = 60_000
/** The part of a node's requests of a day that checks may need. */
export const checkPart = 0.1
/** The time of a block may be this many milliseconds ahead of the clock, because clocks differ. */
export const aheadMsMax = 60_000
/**
 * Since a final block there is at most one new block in each slot of 3 s. A node may show this many
 * more, because clocks differ.
 */
export const headSlackBlocks = 20
/** The most characters of a node's own text that an alarm quotes. */
export const alarmTextMax = 300
