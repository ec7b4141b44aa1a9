import type { Route } from '../../context.ts'
import { refusal } from '../../envelope.ts'
import { answerAddress } from './answer.ts'
import { parseGenerateQuery } from './query.ts'

/** The caller's deposit address. */
export const tronGenerate = {
  path: '/tron/generate',
  rateClass: (url) => {
    const query = parseGenerateQuery(url)
    return query.ok && query.value.fresh ? 'nodes' : 'lists'
  },
  handle: async (c) => {
    const query = parseGenerateQuery(c.req.url)
    return query.ok ? answerAddress(c, c.get('uid'), query.value) : refusal(query.error)
  },
} satisfies Route
