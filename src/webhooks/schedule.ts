/** Milliseconds between a failed delivery and the next try, by the number of failed ones; the last one is repeated. */
const retriesMs = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const
/** Each wait is up to this part longer or shorter, so that endpoints are not all tried at once. */
const spread = 0.2

/** How long one event may fail before it is put aside. */
export const setAsideMs = 3 * 86_400_000

/** Milliseconds from the n-th failed delivery of an event to its next try. `random` is in [0, 1). */
export function retryAfterMs(attempts: number, random: number): number {
  const ms = retriesMs[Math.min(attempts, retriesMs.length) - 1] ?? retriesMs[0]
  return Math.round(ms * (1 - spread + 2 * spread * random))
}
