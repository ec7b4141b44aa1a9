/**
 * What the pool allows itself and its nodes. All of it is per isolate or per invocation: nothing here is a promise
 * of any provider (providers' own figures: fact sheet, sections 7.2, 8.1 and 8.4).
 */

/** Requests of one invocation under way at once: Workers open no more than 6 connections. */
export const connectionsMax = 6
/** Bytes of one reply. 17 busy blocks are 11 MB, the largest possible block 5 MB; an isolate has 128 MB in all. */
export const replyBytesMax = 16 * 1024 * 1024
/**
 * Bytes of a reply for each value in it, at least: nodes write about 40. Of empty arrays alone, a reply of the largest size
 * would become 200 to 500 MB when it is parsed (measured November 2026), and the isolate would be ended.
 */
export const bytesPerValueMin = 16
/** Values for which nobody counts bytes: small answers are short ones. */
export const uncheckedValues = 1_000
/** Room for a reply before its length is known; it doubles. */
export const initialBufferBytes = 256 * 1024
/** Time for one request; less where that would leave no time to ask another node. */
export const requestMs = 6_000
/** Least time worth starting a request with, where the deadline allows it. */
export const requestMsMin = 500
/** How often one node is asked one question. */
export const attemptsMax = 2
/** Longest wait for a resting node when no other is left to ask. */
export const waitMsMax = 1_500

/** Rest after a first failure; it doubles with each further one, with jitter. */
export const backoffMs = 250
/** Longest rest before the breaker opens. */
export const backoffMsMax = 8_000
/** Least time away from a node that limits the rate (TronGrid suspends for 5 to 30 s). */
export const rateLimitMs = 30_000
/** Longest such time, before jitter. */
export const rateLimitMsMax = 240_000
/** Failures in a row that open the breaker. */
export const breakerFailures = 5
/** How long it stays open first; it doubles with each failed trial. */
export const breakerMs = 60_000
/** Longest time it stays open, before jitter. */
export const breakerMsMax = 600_000
/** A node of another chain is not used for this long. */
export const wrongChainMs = 3_600_000
/** A node that was outvoted comes last for this long. */
export const outvotedMs = 600_000
/** A node that is behind the others comes later for this long. */
export const lagMs = 60_000

/** A node found unfit for money is probed again after this long: balancers mix versions, and a probe can meet a gap. */
export const unfitMs = 60_000
/** How long one invocation may hold a node's probe before another starts its own. */
export const probeMs = 12_000
/** How often a waiting invocation looks whether that probe is done. */
export const probePollMs = 50
/** A learned limit of calls per batch is forgotten after this long. */
export const batchLimitMs = 600_000
/** Receipts that a probe compares with the logs of the same block. */
export const probeReceiptsMax = 8
/** Blocks of the tail in one batch: 20 calls less chain id and newest header. A normal rotation is 18 behind. */
export const unconfirmedBatchBlocks = 18
/** Such batches in one look at the tail: two rotations. */
export const unconfirmedBatchesMax = 2
/** Finalized heads further apart than this: further nodes are asked which of them is right. Honest ones differ by one. */
export const headSpreadMax = 2

/** One alarm about one thing is repeated no sooner. */
export const alarmRepeatMs = 3_600_000
/** Alarms remembered for that. */
export const alarmsMax = 200
/** Characters of one answer in an alarm. */
export const alarmTextMax = 300
/** JSON-RPC calls in one HTTP request. java-tron takes 100 from 4.8.2 on; gateways are stricter. */
export const batchCallsMax = 20
