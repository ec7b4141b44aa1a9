import type { ArchiveBucket, Bucket } from '../../src/worker/archive/bucket.ts'
import type { Environment } from './environment.ts'
import { currentInvocation } from './invocation.ts'

/** An R2 bucket in memory. Writing over an object is a broken promise. */
export interface SimulatedBucket {
  readonly binding: ArchiveBucket
  readonly objects: ReadonlyMap<string, string>
  /** The same bucket without time and faults. */
  readonly direct: Bucket
}

/** The fate of a call to R2 while faults occur. A call without an end may still be carried out. */
const faults = ['fails', 'fails after it was carried out', 'late', 'no end', 'no end, and not carried out'] as const

/** Longer than the service waits for an answer. */
const lateMsMax = 20_000

const r2Fault = 'R2 has failed: '

/** Whether the text of an error says that R2 failed, or did not answer in time. */
export const isBucketFaultText = (text: string): boolean =>
  [r2Fault, 'R2 has not answered', 'a call has not returned'].some((part) => text.includes(part))

/**
 * Makes an empty bucket. With the probability `trouble` a call fails, loses its answer, is late, or
 * has no end. What has arrived is carried out, also if the caller has ended or given it up.
 * `written` is called when an object is new.
 */
export function createBucket(env: Environment, trouble: number, written: () => void): SimulatedBucket {
  const { random, scheduler } = env
  const objects = new Map<string, string>()
  const namesAfter = (prefix: string, after: string) =>
    [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort((a, b) => (a < b ? -1 : 1))
  const call = async <T>(what: string, work: () => T): Promise<T> => {
    const { invocation } = currentInvocation()
    await invocation.step()
    const fault = env.phase === 'faults' && random.chance(trouble) ? random.pick(faults) : null
    env.trace(() => `${invocation.name} → R2 ${what} ${fault ?? ''}`)
    if (fault !== null) env.count(`R2: ${fault}`)
    await scheduler.wait(fault === 'late' || fault === 'no end' ? random.int(1_000, lateMsMax) : random.int(5, 400))
    if (fault === 'no end, and not carried out') await new Promise(() => {})
    if (fault === 'fails' || scheduler.now() < env.bucketAwayUntil) throw new Error(`${r2Fault}${what}`)
    const result = work()
    if (fault === 'no end') await new Promise(() => {})
    await scheduler.wait(random.int(5, 400))
    await invocation.step()
    if (fault === 'fails after it was carried out') throw new Error(`${r2Fault}${what}`)
    return result
  }
  const binding = {
    put: (name: string, text: string, options?: R2PutOptions) =>
      call(`put ${name}`, () => {
        const isNew = !objects.has(name)
        const isConditional = (options?.onlyIf as R2Conditional | undefined)?.etagDoesNotMatch === '*'
        if (!isNew && isConditional) {
          env.count('R2: an object exists')
          return null
        }
        if (!isNew) env.violate(`the object ${name} of the bucket was written again`)
        objects.set(name, text)
        written()
        return {}
      }),
    get: (name: string) =>
      call(`get ${name}`, () => {
        const text = objects.get(name)
        return text === undefined ? null : { text: async () => text }
      }),
    list: ({ prefix = '', startAfter = '', limit = 1_000 }: R2ListOptions) =>
      call(`list ${prefix}`, () => {
        return {
          objects: namesAfter(prefix, startAfter)
            .slice(0, limit)
            .map((key) => ({ key })),
        }
      }),
  }
  const direct: Bucket = {
    async putNew(name, text) {
      const isNew = !objects.has(name)
      if (isNew) objects.set(name, text)
      return isNew
    },
    get: async (name) => objects.get(name) ?? null,
    nextName: async (prefix, after) => namesAfter(prefix, after)[0] ?? null,
  }
  // safe: `binding` has the part of R2 that the service uses
  return { binding: binding as unknown as ArchiveBucket, objects, direct }
}
