import { Webhook } from 'standardwebhooks'
import type { Environment } from './environment.ts'
import type { Invocation } from './invocation.ts'
import type { Random } from './random.ts'

/**
 * What an endpoint does with a request. `ok` and `slow` deliver the event. The others are failures
 * to the service, although the endpoint has received the event with `error`, `redirect` and
 * `answer lost`.
 */
const answers = ['ok', 'error', 'redirect', 'hanging', 'lost connection', 'answer lost', 'slow'] as const
type Answer = (typeof answers)[number]

/** The endpoints while faults occur: one is well, one fails in all ways, and one never answers. */
const endpoints: readonly { readonly url: string; readonly draw: (random: Random) => Answer }[] = [
  { url: 'https://well.example/events', draw: () => 'ok' },
  { url: 'https://faulty.example/events', draw: (random) => random.pick(answers) },
  { url: 'https://hanging.example/events', draw: () => 'hanging' },
]

/** What the endpoints have received. */
export interface Endpoints {
  /** Lets an endpoint that takes everything listen at another URL. */
  add(url: string): void
  /** Whether the URL is that of an endpoint. */
  has(url: string): boolean
  /** The answer to a request of an invocation; null for a lost connection. */
  receive(invocation: Invocation, url: string, init: RequestInit): Promise<Response | null>
  /**
   * Why an endpoint has not received the events up to `newestId`, or null. Each event is checked
   * when it is received.
   */
  audit(newestId: number): string | null
  /**
   * Why an endpoint has not received the checkpoint about `newestSize` lines, or has one that the
   * bucket has not; null if all is well. `noteOf` is the checkpoint in the bucket of a size.
   */
  auditNotes(newestSize: number, noteOf: (size: number) => string | undefined): string | null
  /**
   * To be called after the database was restored to a state without endpoints: each begins with the
   * next event again.
   */
  forget(): void
}

/** What the service delivers: an event, or a checkpoint. */
interface Body {
  readonly id: number
  readonly type: string
  readonly data: Note
}

interface Note {
  readonly size: number
  readonly note: string
}

/** The checkpoints that the endpoints have taken. */
function createNotes({ deployed }: Pick<Environment, 'deployed'>) {
  const taken = new Map(endpoints.map(({ url }) => [url, new Map<number, string>()]))
  return {
    keep(url: string, { size, note }: Note): void {
      taken.set(url, (taken.get(url) ?? new Map<number, string>()).set(size, note))
    },
    audit(newestSize: number, noteOf: (size: number) => string | undefined): string | null {
      for (const [url, notes] of taken) {
        if (!deployed.endpoints.includes(url)) continue
        const wrong = [...notes].find(([size, note]) => noteOf(size) !== note)
        if (wrong !== undefined) return `${url} has a note about ${wrong[0]} lines, which the bucket has not`
        if (!notes.has(newestSize)) return `${url} has not received the note about ${newestSize} lines`
      }
      return null
    },
  }
}

/**
 * Makes the endpoints of a run; `random` decides what they do with each request while faults occur.
 */
export function createEndpoints(env: Environment, random: Random): Endpoints {
  const received = new Map(endpoints.map(({ url }): [string, Received] => [url, new Map()]))
  const newest = new Map<string, number>() // the id of the event that came last
  const notes = createNotes(env)
  const keep = (url: string, init: RequestInit, isConfirmed: boolean) => {
    const headers = init.headers as Readonly<Record<string, string>> // safe: the service sends text
    const body = String(init.body)
    const { id, type, data } = JSON.parse(body) as Body // safe: the audits check what is in it
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
    const name = String(headers['webhook-id'])
    const expected = env.deployed.hookSecrets.map((secret) => new Webhook(secret).sign(name, sentAt, body)).join(' ')
    if (type === 'ledger.sealed') {
      if (headers['webhook-signature'] !== expected) env.violate(`note ${name} was delivered with a wrong signature`)
      return isConfirmed ? notes.keep(url, data) : undefined
    }
    if (!name.startsWith(`evt_${id}_`)) env.violate(`event ${id} was delivered as ${name}`)
    if (headers['webhook-signature'] !== expected) env.violate(`event ${id} was delivered with a wrong signature`)
    const events = received.get(url)
    const before = events?.get(name)
    if (before !== undefined && before.body !== body) env.violate(`event ${id} was delivered again with another body`)
    const newestId = newest.get(url)
    // A restored database goes on from an earlier event.
    if (env.restores === 0 && before === undefined && newestId !== undefined && id !== newestId + 1) {
      env.violate(`event ${id} was delivered to ${url} after event ${newestId}`)
    }
    env.count(before === undefined ? 'event delivered' : 'event delivered again')
    if (before === undefined) newest.set(url, id)
    events?.set(name, { id, body, isConfirmed: isConfirmed || before?.isConfirmed === true })
  }
  return {
    add: (url) => void received.set(url, new Map()),
    has: (url) => received.has(url),
    async receive(invocation, url, init) {
      const endpoint = endpoints.find((one) => one.url === url)
      const drawn = env.phase !== 'faults' || endpoint === undefined ? 'ok' : endpoint.draw(random)
      const answer = env.deadEndpoints.has(url) ? 'lost connection' : drawn
      if (answer !== 'ok') env.count(`endpoint: ${answer}`)
      await invocation.step()
      // In a trial thousands of events can be due, so each must be fast.
      const latency = () => (env.trial === null ? random.int(5, 300) : random.int(1, 5))
      await env.scheduler.wait(latency())
      if (answer !== 'lost connection' && answer !== 'hanging') keep(url, init, answer === 'ok' || answer === 'slow')
      await env.scheduler.wait(answer === 'slow' ? random.int(1_000, 9_000) : latency())
      await invocation.step()
      if (answer === 'hanging') await new Promise(() => {}) // never: the service gives up
      if (answer === 'lost connection' || answer === 'answer lost') return null
      return new Response(null, { status: answer === 'error' ? 500 : answer === 'redirect' ? 302 : 204 })
    },
    audit: (newestId) => auditReceived(env, received, newestId),
    auditNotes: notes.audit,
    forget() {
      for (const events of received.values()) events.clear()
      newest.clear()
    },
  }
}

/** What an endpoint has received of an event, by the name of its delivery. */
type Received = Map<string, { readonly id: number; readonly body: string; isConfirmed: boolean }>

/** Why an endpoint that is deployed has not received the events up to an id, or null. */
function auditReceived(
  env: Pick<Environment, 'deployed' | 'restores'>,
  received: ReadonlyMap<string, Received>,
  newestId: number,
): string | null {
  for (const [url, events] of received) {
    if (!env.deployed.endpoints.includes(url)) continue
    // Before the first tick no endpoint was registered.
    const hasNewest = events.size === 0 || [...events.values()].some(({ id }) => id === newestId)
    if (!hasNewest) return `${url} has not received the newest event, ${newestId}`
    const unconfirmed = [...events.values()].find(({ isConfirmed }) => !isConfirmed)
    // A restored database has other events with these numbers.
    if (env.restores === 0 && unconfirmed !== undefined)
      return `${url} has refused event ${unconfirmed.id}, which did not come again`
  }
  return null
}
