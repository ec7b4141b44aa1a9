/** A recorded query of the service, with `recordedUid` in place of the user's id. */
interface Query {
  readonly sql: string
  readonly values: readonly (string | number | null)[]
}

interface Env {
  readonly DB: D1Database
  /** The queries of each route. */
  readonly ROUTES: readonly (readonly Query[])[]
  readonly RECORDED_UID: number
}

/**
 * The baseline of the lists: the same queries and their rows as JSON, without checks, tokens and
 * logs. `/query/{route}/{uid}` runs them, `/rows/{route}/{uid}` counts the rows that D1 reads for
 * them. It is never deployed.
 */
export default {
  async fetch(request, { DB, ROUTES, RECORDED_UID }) {
    const [, action, route, uid] = new URL(request.url).pathname.split('/')
    const statements = (ROUTES[Number(route)] ?? []).map(({ sql, values }) =>
      DB.prepare(sql).bind(...values.map((value) => (value === RECORDED_UID ? Number(uid) : value))),
    )
    const results = await DB.batch(statements)
    if (action === 'rows') return Response.json(results.reduce((sum, { meta }) => sum + meta.rows_read, 0))
    return Response.json(results.map(({ results: rows }) => rows))
  },
} satisfies ExportedHandler<Env>
