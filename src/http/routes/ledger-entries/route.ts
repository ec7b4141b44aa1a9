import { postedItem } from '../../../ledger/entry-item.ts'
import { postEntries } from '../../../ledger/post-entries.ts'
import type { LedgerRoute } from '../../context.ts'
import { failure, jsonAmount, refusal, success } from '../../envelope.ts'
import { toPostProblem } from '../../errors.ts'
import { readEntries } from '../../post-body.ts'
import { answerEntries } from '../wallet-flow-list/answer.ts'
import { parseLedgerEntriesQuery } from './query.ts'

/** The ledger entries of a named user, newest first. */
export const listLedgerEntries = {
  path: '/ledger/entries',
  method: 'GET',
  scope: () => 'ledger:read',
  handle: async (c) => {
    const query = parseLedgerEntriesQuery(c.req.url, c.env.services.settings.currencies)
    if (!query.ok) return refusal(query.error)
    return answerEntries(c, query.value.uid, query.value, (entry, currencies) => ({
      ...postedItem(entry, currencies, jsonAmount),
    }))
  },
} satisfies LedgerRoute

/** Posts entries: all or none. */
export const postLedgerEntries = {
  path: '/ledger/entries',
  method: 'POST',
  scope: () => 'ledger:post',
  handle: async (c) => {
    const { services } = c.env
    const entries = await readEntries(c.req.raw)
    if (!entries.ok) return failure(entries.error)
    const posted = await services.write(c.get('invocation'), (parts) =>
      postEntries(parts, entries.value, c.get('backend'), parts.clock.now()),
    )
    if (!posted.ok) return failure(toPostProblem(posted.error))
    const { replayed } = posted.value
    const list = posted.value.entries.map((entry) => ({
      ...postedItem(entry, services.settings.currencies, jsonAmount),
    }))
    return success({ list, count: list.length, replayed })
  },
} satisfies LedgerRoute
