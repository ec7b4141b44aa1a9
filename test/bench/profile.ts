import { UserError } from '../support/project.ts'

/** A CPU profile in V8's format. */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      readonly lineNumber: number
      readonly columnNumber: number
    }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The CPU time of an isolate. */
export interface CpuTime {
  /** All time except idle time, in milliseconds. */
  readonly ms: number
  /** The functions with the most time of their own, in milliseconds. */
  readonly top: readonly { readonly name: string; readonly ms: number }[]
}

const sampleEveryUs = 200
const topMax = 12
const replyTimeoutMs = 20_000

/** A connection to one isolate's inspector. workerd accepts only one in an isolate's life. */
export interface Profiler {
  /** The isolate's CPU time while `work` runs. */
  profile(work: () => Promise<unknown>): Promise<CpuTime>
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
      return summarize(stopped.profile)
    },
    close: () => socket.close(),
  }
}

/** The CPU time of a profile. */
export function summarize({ nodes, samples, timeDeltas }: Profile): CpuTime {
  const names = new Map(
    nodes.map(({ id, callFrame }) => {
      const { functionName, url, lineNumber, columnNumber } = callFrame
      const place = url === '' ? '' : ` ${url.split('/').at(-1)}:${lineNumber + 1}:${columnNumber + 1}`
      return [id, `${functionName || '(anonymous)'}${place}`]
    }),
  )
  const own = new Map<string, number>()
  for (const [i, sample] of samples.entries()) {
    const name = names.get(sample) ?? '?'
    own.set(name, (own.get(name) ?? 0) + (timeDeltas[i] ?? 0) / 1000)
  }
  own.delete('(idle)')
  const top = [...own].map(([name, ms]) => ({ name, ms })).sort((a, b) => b.ms - a.ms)
  return { ms: top.reduce((sum, { ms }) => sum + ms, 0), top: top.slice(0, topMax) }
}
