import type { Clock } from '../platform/clock.ts'

/** How long R2 may take for one answer. */
export const bucketAnswerMs = 10_000

/**
 * The calls that the archive makes to its bucket. Each throws if R2 fails, or does not answer in
 * time.
 */
export interface Bucket {
  /** Writes a new object; false if one with this name exists. */
  putNew(name: string, text: string): Promise<boolean>
  /** Null if there is no such object. */
  get(name: string): Promise<string | null>
  /** The first name of an object after `after` that begins with `prefix`; null if there is none. */
  nextName(prefix: string, after: string): Promise<string | null>
}

/** The part of R2's binding that is used. */
export type ArchiveBucket = Pick<R2Bucket, 'put' | 'get' | 'list'>

/** Limits each call of R2 in time. One that is given up may still be carried out later. */
export function openBucket(r2: ArchiveBucket, clock: Pick<Clock, 'sleep'>): Bucket {
  const inTime = async <T>(call: Promise<T>): Promise<T> => {
    const end = new AbortController()
    const tooLate = clock.sleep(bucketAnswerMs, end.signal).then(() => {
      throw new Error(`R2 has not answered within ${bucketAnswerMs / 1000} s`)
    })
    try {
      return await Promise.race([call, tooLate])
    } finally {
      tooLate.catch(() => undefined) // ends with the timer
      end.abort(null)
      call.catch(() => undefined) // may fail after it was given up
    }
  }
  return {
    putNew: async (name, text) => (await inTime(r2.put(name, text, { onlyIf: { etagDoesNotMatch: '*' } }))) !== null,
    async get(name) {
      const object = await inTime(r2.get(name))
      return object === null ? null : inTime(object.text())
    },
    async nextName(prefix, after) {
      const { objects } = await inTime(r2.list({ prefix, startAfter: after, limit: 1 }))
      return objects[0]?.key ?? null
    },
  }
}
