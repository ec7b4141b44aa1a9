import type { Api, Reply } from '../kit/api.ts'
import type { ListPage } from '../kit/read.ts'
import { type Arrival, readArrivals, readHeldArrivals } from './data.ts'
import { arrivalsPath, heldArrivalsPath, holdSeconds } from './paths.ts'

/**
 * While held requests say that nothing has changed, all is read again after this time: not all
 * changes end a held request.
 */
export const allMs = 300_000
/**
 * Time limit of a held request, so that a page says within 30 s that the service does not answer.
 */
const heldMsMax = (holdSeconds + 4) * 1_000
/** A request that was answered sooner, although nothing has changed, was not held. */
const heldMsMin = 5_000

/** Loads the newest transfers, with a request that the service holds while the page only waits. */
export interface NewestArrivals {
  /**
   * Returns null if nothing has changed, or if `signal` has ended the held request. `doubted` is
   * called if a request was not held although it could be: credits may be late.
   */
  load(limit: number, signal: AbortSignal, doubted: () => void): Promise<Reply<ListPage<Arrival>> | null>
  /** Whether the service holds requests. Then the next one may follow at once. */
  wasHeld(): boolean
}

/** `isWaiting`: the page shows an address, and nothing is on its way. */
export function createNewestArrivals(api: Api, isWaiting: () => boolean): NewestArrivals {
  let allAt = Number.NEGATIVE_INFINITY
  let mark: string | null = null
  let isHeld = false
  return {
    wasHeld: () => isHeld,
    async load(limit, signal, doubted) {
      isHeld = false
      const [now, before] = [performance.now(), mark]
      if (!isWaiting() || now >= allAt + allMs) {
        allAt = now
        return await api.get(arrivalsPath(limit), readArrivals)
      }
      const answer = await api.get(heldArrivalsPath(limit, mark), readHeldArrivals, heldMsMax, signal)
      mark = answer.ok ? answer.data.mark : null
      if (signal.aborted) allAt = Number.NEGATIVE_INFINITY // whoever has ended it wants to know what there is
      if (signal.aborted || !answer.ok) return answer.ok || signal.aborted ? null : answer
      const { page } = answer.data
      const wasLong = page === null && performance.now() >= now + heldMsMin
      isHeld = mark !== null && (before === null || wasLong) // the first one only gets the mark
      if (page !== null && before !== null) doubted()
      return page === null ? null : { ...answer, data: page }
    },
  }
}
