import type { MiddlewareHandler } from 'hono'
import type { QueryFailure } from '../../common/query-failure.ts'
import type { Env } from '../context.ts'
import { refusal } from '../envelope.ts'

/**
 * The header with a bookmark, in requests and in responses: a position in the history of the database. A request with the
 * bookmark of an earlier response can read any copy of the database that has reached it.
 */
export const bookmarkHeader = 'x-d1-bookmark'
/** Longest bookmark that is accepted, in characters; those of D1 have 59. */
export const bookmarkCharsMax = 100
/** Hex digits and hyphens, as D1 writes them. No word has this form, so no caller can send `first-unconstrained`. */
export const bookmarkForm = /^[0-9a-f]+(-[0-9a-f]+)*$/

/** The failure of a request with anything else in that header. */
export const bookmarkRefusal = {
  kind: 'bad-input',
  field: bookmarkHeader,
  why: 'the bookmark of an earlier response, given once',
} as const satisfies QueryFailure

/** Passes the bookmark of the request to the database, and the one after it to the caller. */
export const bookmark: MiddlewareHandler<Env> = async (c, next) => {
  const value = c.req.header(bookmarkHeader) ?? null
  if (value !== null && (value.length > bookmarkCharsMax || !bookmarkForm.test(value))) return refusal(bookmarkRefusal)
  const invocation = { ...c.get('invocation'), bookmark: value }
  c.set('invocation', invocation)
  try {
    return await next()
  } finally {
    if (invocation.bookmarkAfter !== null) c.res.headers.set(bookmarkHeader, invocation.bookmarkAfter)
  }
}
