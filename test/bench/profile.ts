import { UserError } from '../support/project.ts'

/** A CPU profile in V8's format. */
export interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const sampleEveryUs = 200
const replyTimeoutMs = 20_000

/** A connection to one isolate's inspector. workerd accepts only one in an isolate's life. */
export interface Profiler {
  /** The isolate's CPU time while `work` runs, in milliseconds. */
  profile(work: () => Promise<unknown>): Promise<number>
  close(): void
}

/** Connects to the isolate at `inspectorUrl`. */
export async function openProfiler(inspectorUrl: string): Promise<Profiler> {
  const socket = new WebSocket(inspectorUrl)
  const waiting = new Map<number, (result: unknown) => void>()
  let lastId = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown } // the inspector's protocol
    if (id !== undefined) waiting.get(id)?.(result)
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new UserError('the inspector is not reachable')))
  })
  const send = (method: string, params: object = {}) =>
    new Promise<unknown>((resolve, reject) => {
      lastId += 1
      const timer = setTimeout(() => reject(new UserError(`the inspector did not reply to ${method}`)), replyTimeoutMs)
      waiting.set(lastId, (result) => {
        clearTimeout(timer)
        resolve(result)
      })
      socket.send(JSON.stringify({ id: lastId, method, params }))
    })
  await send('Profiler.enable')
  await send('Profiler.setSamplingInterval', { interval: sampleEveryUs })
  return {
    async profile(work) {
      await send('Profiler.start')
      await work()
      const stopped = (await send('Profiler.stop')) as { profile: Profile } // the inspector's protocol
      return cpuMsOf(stopped.profile)
    },
    close: () => socket.close(),
  }
}

/** The CPU time of a profile: all time except idle time, in milliseconds. */
export function cpuMsOf({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
  return samples.reduce((sum, sample, i) => sum + (idle.has(sample) ? 0 : (timeDeltas[i] ?? 0) / 1000), 0)
}
