import { describe, expect, test } from 'vitest'
import { isDatabaseAway } from '../../src/worker/d1/away.ts'

/**
 * D1's messages for trouble that ends by itself, as its documentation lists them and others have
 * reported them.
 */
const away = [
  'D1 DB reset because its code was updated.',
  'Internal error while starting up D1 DB storage caused object to be reset.',
  'Network connection lost.',
  'Internal error in D1 DB storage caused object to be reset.',
  'Cannot resolve D1 DB due to transient issue on remote node.',
  "Can't read from request stream because client disconnected.",
  'D1 DB storage operation exceeded timeout which caused object to be reset.',
  'D1 DB is overloaded. Requests queued for too long.',
  'D1 DB is overloaded. Too many requests queued.',
  "D1 DB's isolate exceeded its memory limit and was reset.",
  'D1 DB exceeded its CPU time limit and was reset.',
  'Replica disconnected from primary.',
  'Currently processing a long-running export.',
  'internal error; reference = nvs8qpkqmrjdk2qlftcini97',
]
/** What the scanner's object fails with while it is reset. */
const objectAway = [
  'Durable Object reset because its code was updated.',
  'Durable Object storage operation exceeded timeout which caused object to be reset.',
  'Durable Object is overloaded. Requests queued for too long.',
]

describe('the database is away', () => {
  test.each(away)('if D1 says "%s"', (text) => {
    expect(isDatabaseAway(new Error(`D1_ERROR: ${text}`))).toBe(true)
    expect(isDatabaseAway(new Error(`D1_ERROR: ${text}`, { cause: new Error(text) }))).toBe(true)
    const ofDrizzle = new Error('Failed query: select "id" from "scan"\nparams: ', {
      cause: new Error(`D1_ERROR: ${text}`),
    })
    expect(isDatabaseAway(ofDrizzle)).toBe(true)
  })

  test.each(objectAway)('if an object of the service says "%s"', (text) => {
    expect(isDatabaseAway(new Error(text))).toBe(true)
  })
})

test.each<[string, unknown]>([
  ['a missing table', new Error('D1_ERROR: no such table: scan: SQLITE_ERROR')],
  ['a wrong statement', new Error('D1_ERROR: near "FORM": syntax error at offset 9: SQLITE_ERROR')],
  ['a refused row', new Error('D1_ERROR: CHECK constraint failed: wallet_balance: SQLITE_CONSTRAINT')],
  ['a trigger', new Error('D1_ERROR: scan: the position only grows: SQLITE_CONSTRAINT')],
  ['a value that D1 does not take', new Error("D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'")],
  ['a full database', new Error('D1_ERROR: Exceeded maximum DB size')],
  ['the limits of a day', new Error('D1_ERROR: Your account has exceeded D1’s maximum account storage limit')],
  ['an error of the program', new TypeError("Cannot read properties of undefined (reading 'id')")],
  ['an internal error of another part', new Error('internal error')],
  ['a thrown text', 'Network connection lost.'],
  ['nothing', undefined],
])('%s is a bug or for an operator, and does not count as away', (_, thrown) => {
  expect(isDatabaseAway(thrown)).toBe(false)
})
