/** A recorded query of the service. `?1` is the user id. */
interface Query {
  readonly sql: string
  readonly values: readonly (string | number | null)[]
}

interface Env {
  readonly DB: D1Database
  readonly QUERIES: readonly Query[]
  /** If it is bound, it is called before the query, as in the service. */
  readonly RATE_LISTS?: RateLimit
}

/** Texts that `/load` fetches for `/parse`. A service must not keep such state in an isolate; a benchmark may. */
let texts: string[] = []

/**
 * The baseline of the service: one D1 query and its rows as JSON, and JSON.parse of nodes' replies, without checks,
 * tokens and logs. It is never deployed.
 */
export default {
  async fetch(request, env) {
    const [, action, ...rest] = new URL(request.url).pathname.split('/')
    switch (action) {
      case 'query':
        return await query(env, Number(rest[0]), Number(rest[1]))
      case 'load':
        texts = await fetchTexts(await request.json())
        return Response.json({ characters: texts.reduce((sum, text) => sum + text.length, 0) })
      case 'parse':
        return Response.json({ values: texts.map((text) => JSON.parse(text)).length })
      case 'fetch-and-parse': {
        let values = 0
        for (const one of await request.json<NodeRequest[]>()) values += count(JSON.parse(await fetchText(one)))
        return Response.json({ values })
      }
      default:
        return new Response(null, { status: 404 })
    }
  },
} satisfies ExportedHandler<Env>

async function query({ DB, QUERIES, RATE_LISTS }: Env, index: number, uid: number): Promise<Response> {
  const recorded = QUERIES[index]
  if (recorded === undefined) return new Response(null, { status: 404 })
  await RATE_LISTS?.limit({ key: `${uid}` })
  const rows = await DB.prepare(recorded.sql)
    .bind(uid, ...recorded.values.slice(1))
    .raw()
  return Response.json(rows)
}

/** A request to a node. */
interface NodeRequest {
  readonly url: string
  readonly body: string
}

async function fetchTexts(requests: readonly NodeRequest[]): Promise<string[]> {
  const fetched: string[] = []
  for (const one of requests) fetched.push(await fetchText(one))
  return fetched
}

async function fetchText({ url, body }: NodeRequest): Promise<string> {
  return await (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
}

const count = (value: unknown) => (Array.isArray(value) ? value.length : 1)
