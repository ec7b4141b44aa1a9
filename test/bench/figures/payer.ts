import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { quantile } from './delays.ts'

/**
 * The script that pays and looks at the page in a browser. It is in another folder, because it is
 * compiled with the browser's types.
 */
const script = fileURLToPath(import.meta.resolve('../../pages/pay-and-look.ts'))
const payments = 30

/** As the script prints them. */
interface Printed {
  /** Milliseconds from sending each payment until the page says that it is on its way. */
  readonly seenMs: readonly number[]
  /** Requests of one page that waits to the service, in a minute. */
  readonly requests: number
}

/**
 * What a payer meets in a browser, over the whole service as `npm start` runs it, with the scan's
 * interval and the finality of a deployment.
 */
export async function measurePayer({ work }: Scale): Promise<readonly Figure[]> {
  const count = Math.max(5, Math.round(payments * work))
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(count)])
  const { seenMs, requests } = JSON.parse(stdout) as Printed // written by the script
  const seen = (what: string, part: number, max: number) => {
    const seconds = quantile(seenMs, part) / 1_000
    return figure(`${count} payments: sent until the page says so, ${what}`, seconds, 's', atMost(max, seconds))
  }
  return [
    seen('half of them', 0.5, 4.5),
    seen('the slowest', 1, 8),
    figure('a page that waits: requests to the service, a minute', requests, 'requests', atMost(4, requests)),
  ]
}
