// Limits of this client. PROTOCOL.md (Rate limits and gateways) has those of nodes and providers.

/** Most requests at the same time: Workers open at most 6 connections. */
export const connectionsMax = 6
/** Most connections for requests other than a tick's, so that slow replies to users never delay a tick. */
export const otherConnectionsMax = 4
/** Most bytes of one reply as it arrives, far more than the largest possible block has (PROTOCOL.md, Sizes). */
export const receivedBytesMax = 32 * 1024 * 1024
/** Most bytes of one reply that are kept and parsed. The largest possible block has 4.3 MB (PROTOCOL.md, Sizes). */
export const replyBytesMax = 4.5 * 1024 * 1024
// An isolate has 128 MB. With these limits a parsed reply takes at most 30 MB, and six that arrive at once take 90 MB. Without them a reply of empty arrays
// could take 200 MB (workerd, November 2026, test/tron/transport/reply-memory.ts).
/** A long reply must have at least this many kept bytes for each value. Nodes write about 40, and 31 for logs without topics and data. */
export const bytesPerValueMin = 28
/** Values that a reply may have whatever its length, because short replies can be dense. */
export const uncheckedValuesMax = 1_000
/** A reply longer than this must be plain ASCII without escapes, as nodes write it. Other characters double the memory of a text. */
export const plainBytesMin = 1024 * 1024
/** Deepest nesting of arrays and objects. Nodes write 6 levels. */
export const replyDepthMax = 16
/** Most different keys in one reply. Nodes write about 60. Each new key takes more memory than its bytes. */
export const replyKeysMax = 256
/** A reply up to this size is read at once, and does not wait for other replies. */
export const smallReplyBytes = 256 * 1024
/** Most larger replies that are read at the same time. Others wait. */
export const largeRepliesMax = 2

/** Time limit of one request. */
export const requestMs = 6_000
/** A request is not begun with less time left than this: its answer would come too late. */
export const answerMsMin = 500
/** The share of the remaining time that one node gets for one query. After that another node is asked. */
export const nodePart = 1 / 3
/** The least time that one node gets for one query, if the deadline allows it. */
export const nodeMsMin = 2_000
/** The most time that one node gets for one query. */
export const nodeMsMax = 10_000
/** A node whose request takes longer than this is slow. */
export const slowMs = 2_000
/** Pause before the single retry of a request that failed at a healthy node. */
export const retryMs = 200
/** Rest of a service after a failure. It doubles with each further failure. All rests have jitter of up to half. */
export const restMs = 1_000
/** Longest rest of a service after failures. */
export const restMsMax = 60_000
/** Rest of a service that limits the rate. It doubles each time. TronGrid suspends a client for 5 to 30 s. */
export const rateLimitMs = 30_000
/** Longest rest of a service that limits the rate. */
export const rateLimitMsMax = 240_000
/** Rest of a node that answers for another chain. It is short, because a load balancer may have misdirected one query. */
export const wrongChainMs = 60_000
/** How long a successful probe counts, unless the node fails. */
export const probedMs = 6 * 3_600_000
/** How long a node is not used after a probe found it unfit. */
export const unfitMs = 60_000
/** A node that was outvoted or slow is demoted: for this long all other nodes are used before it. The time doubles each time the node is slow again. */
export const demotedMs = 600_000
/** The longest demotion, also that of a node that has shown many transfers that are in no final block. */
export const distrustedMs = 6 * 3_600_000
/** More unconfirmed transfers than this within `falseSeenMs` mean that the node invents them; a fork of the newest blocks has fewer. */
export const falseSeenMax = 20
export const falseSeenMs = 3_600_000
/** How long all other nodes are used before one that is behind. */
export const behindMs = 60_000
/** A node that is healthy again after this much trouble counts as recovered. Blocks that were unreadable because of it are read again. */
export const troubleMsMin = 300_000
/** How long a node that refused a batch gets smaller ones. */
export const smallBatchesMs = 600_000

/** Most JSON-RPC calls in one HTTP request. java-tron accepts 100 from 4.8.2 on; gateways have lower limits. */
export const batchCallsMax = 20
/** Kept bytes that one query for blocks aims at: two thirds of the limit, because blocks differ. That is 9 busy blocks, and the chain makes 7 in 20 s. */
export const queryBytes = (replyBytesMax * 2) / 3
/** Most blocks in a query to a node that takes no batches, because the logs of each block are a request. At 300 ms each they fit the node's time. */
export const singleBlocksMax = 20
/** Assumed kept bytes of a block before the first one was read. */
export const blockBytesAtFirst = 256 * 1024
/** Receipts that a probe compares with the logs of the same block. */
export const probeReceiptsMax = 8
/** If finalized heads differ by more blocks than this, one more node is asked. Heads of honest nodes differ by one. */
export const headSpreadMax = 2
/** Most heights that are tried until the nodes agree on the finalized head. Each is the head that some node shows. */
export const headHeightsMax = 3
/** A node is behind if its finalized head is this many blocks (one minute) below the newest one that a node claims. */
export const headLagBlocksMax = 20
/** A node is behind if its finalized head is older than this and that of another node is not. */
export const headAgeMsMax = 120_000
/** A node that is behind, or fails at each request, for this long raises an alarm. */
export const troubleAlarmMs = 180_000
/** A block may be this many milliseconds ahead of the clock. */
export const aheadMsMax = 60_000
/** A node may show this many blocks more above a final block than there were slots since that block, because clocks differ. */
export const headSlackBlocks = 20
/** Most characters of a node's text in an alarm. */
export const alarmTextMax = 300
