import { readScanHealth } from '../../../scan/health.ts'
import type { Route } from '../../context.ts'
import { failure, success } from '../../envelope.ts'

/** The state of the scan, for a load balancer or monitoring: requires no token and queries no node. */
export const health = {
  path: '/health',
  rateClass: null,
  handle: async (c) => {
    const { status, scanned, finalized, behind, msg } = await readScanHealth(
      c.env.services.primary(c.get('invocation')),
    )
    const data = { status, scanned, finalized, behind }
    return status === 'stopped' ? failure({ status: 503, msg: msg ?? status }, data) : success(data, msg ?? undefined)
  },
} satisfies Route
