import type { Address } from '../../../src/worker/chain/address.ts'
import { compared, type Figure, figure, type Scale } from '../figure.ts'
import { createBlocks, type Lies } from '../mainnet.ts'
import { type NodeFault, startVirtual } from '../virtual.ts'
import { delaysWith, quantile, smallBlock, startMs } from './delays.ts'

const nodes = 3
/** How many transfers the lying node invents in each block that is not final. */
const lies = 300
/**
 * A deposit comes in every 17th block: about one a minute, and each at another time after the last
 * tick.
 */
const everyBlocks = 17
const hourMs = 3_600_000

const faults: Readonly<Record<string, (address: Address) => NodeFault>> = {
  'slow, 5 s for each answer': () => ({ kind: 'slow' }),
  'lying in its tail': (to) => ({ kind: 'lying tail', count: lies, to, renewed: false }),
  'cut off from the other nodes': () => ({ kind: 'stands still' }),
  'cut off from the service': () => ({ kind: 'no answer' }),
}

/**
 * Measures what one bad node of three costs: how much later deposits are seen and credited, and how
 * many rows the service writes because of its lies.
 */
export async function measureNodes({ work }: Scale): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  const hours = Math.max(0.25, work)
  for (const [name, faultOf] of Object.entries({ 'well, as the others': null, ...faults })) {
    const { seen, credited } = await delaysWith({ nodes, everyBlocks, hours, ...(faultOf === null ? {} : { faultOf }) })
    const what = `a deposit each minute, one node of three ${name}`
    figures.push(figure(`${what}: seen after its block, 99 %`, quantile(seen, 0.99) / 1000, 's'))
    figures.push(figure(`${what}: credited after finality, 99 %`, quantile(credited, 0.99) / 1000, 's'))
  }
  return [...figures, ...(await measureRows())]
}

/**
 * Measures how many rows the service writes in the first hour of a lying node, and how many
 * transfers and events are stored after that hour. Each is compared with the number for honest
 * nodes. There are no deposits.
 */
async function measureRows(): Promise<readonly Figure[]> {
  const truth = await rowsWith({ count: 0, renewed: false })
  const figures: Figure[] = []
  for (const lie of [
    { count: lies, renewed: false },
    { count: lies, renewed: true },
    { count: 1, renewed: false },
  ]) {
    const rows = await rowsWith(lie)
    const row = (name: string, of: 'written' | 'kept') => {
      const measured = { value: rows[of], baseline: truth[of], ratio: rows[of] / truth[of] }
      const what = `transfers in each block: ${lie.count}${lie.renewed ? ', and other blocks all the time' : ''}`
      return compared(`${name} the first hour of a tail that lies, ${what}`, 'rows', measured, 'the truth')
    }
    figures.push(row('rows written in', 'written'), row('transfers and events stored in', 'kept'))
  }
  return figures
}

async function rowsWith(what: Omit<Lies, 'to'>): Promise<{ written: number; kept: number }> {
  const chain = createBlocks({ startMs, transactionsAt: () => smallBlock, depositsAt: () => [] })
  const service = await startVirtual(chain, { nodes })
  const to = await service.addressOf(1)
  service.fail({ kind: 'lying tail', to, ...what })
  const count = (sql: string) => Number(service.sqlite.prepare(sql).get()?.n)
  const written = () => count('SELECT total_changes() AS n')
  const before = written()
  await service.run(hourMs)
  const kept = count('SELECT (SELECT count(*) FROM transfer) + (SELECT count(*) FROM event) AS n')
  return { written: written() - before, kept }
}
