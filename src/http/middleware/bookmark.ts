import type { QueryFailure } from '../../common/query-failure.ts'
import { err, ok, type Result } from '../../common/result.ts'

/**
 * The header in which a bookmark travels both ways: a place in the database's history. With it a caller's next
 * question may go to any copy of the database that has come as far.
 */
export const bookmarkHeader = 'x-d1-bookmark'
/** Longest bookmark that is taken, in characters; D1's have 59. */
export const bookmarkCharsMax = 100

/** Hex digits and hyphens, as D1 writes them. No word is one, so nobody can say `first-unconstrained`. */
export const bookmarkForm = /^[0-9a-f]+(-[0-9a-f]+)*$/

/** The bookmark that a caller sends, or null where it sends none. */
export function readBookmark(headers: Headers): Result<string | null, QueryFailure> {
  const value = headers.get(bookmarkHeader)
  if (value === null) return ok(null)
  if (value.length <= bookmarkCharsMax && bookmarkForm.test(value)) return ok(value)
  return err({ kind: 'bad-input', field: bookmarkHeader, why: 'a bookmark as an earlier answer had it, given once' })
}
