/** A query of the service, as it was overheard. `?1` is the caller. */
interface Query {
  readonly sql: string
  readonly values: readonly (string | number | null)[]
}

interface Env {
  readonly DB: D1Database
  readonly QUERIES: readonly Query[]
  /** Asked before the query where it is bound, as the service does. */
  readonly RATE_LISTS?: RateLimit
}

/** What `/load` fetched, for `/parse`: an isolate's memory, as a benchmark may use it and a service may not. */
let texts: string[] = []

/**
 * What the service is measured against: one D1 query and its rows as JSON, and JSON.parse of nodes' replies. No check, no
 * token, no log. Never deployed.
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
        for (const asked of await request.json<Asked[]>()) values += count(JSON.parse(await fetchText(asked)))
        return Response.json({ values })
      }
      default:
        return new Response(null, { status: 404 })
    }
  },
} satisfies ExportedHandler<Env>

async function query({ DB, QUERIES, RATE_LISTS }: Env, index: number, uid: number): Promise<Response> {
  const asked = QUERIES[index]
  if (asked === undefined) return new Response(null, { status: 404 })
  await RATE_LISTS?.limit({ key: `${uid}` })
  const rows = await DB.prepare(asked.sql)
    .bind(uid, ...asked.values.slice(1))
    .raw()
  return Response.json(rows)
}

/** A request to a node. */
interface Asked {
  readonly url: string
  readonly body: string
}

async function fetchTexts(all: readonly Asked[]): Promise<string[]> {
  const found: string[] = []
  for (const asked of all) found.push(await fetchText(asked))
  return found
}

async function fetchText({ url, body }: Asked): Promise<string> {
  return await (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
}

const count = (value: unknown) => (Array.isArray(value) ? value.length : 1)
