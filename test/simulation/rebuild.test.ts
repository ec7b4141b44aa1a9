import type { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { archiveBeside, archiveFault } from './archived.ts'
import { createRandom } from './random.ts'
import { createSimulation } from './run.ts'
import { calmRates, type Overrides } from './scenario.ts'

const run = createSimulation()
/** `REBUILD_SEEDS=2000` tries more, `REBUILD_FROM=1001` later ones. */
const [from, seeds] = [Number(process.env.REBUILD_FROM ?? 1), Number(process.env.REBUILD_SEEDS ?? 4)]
/** An operator who restores copies, corrects heights and has blocks read again all the time. */
const busy: Overrides = { archive: null, rates: { ...calmRates, operator: 0.5 } }

/** The things that a rebuilt database can have, by the SQL that finds each. */
const kinds = {
  'a restore': 'SELECT 1 FROM archive WHERE epoch > 2',
  'a correction': 'SELECT 1 FROM correction',
  'a decision': 'SELECT 1 FROM decision',
  'a payout': 'SELECT 1 FROM payout',
  'an order': 'SELECT 1 FROM payment_order',
  'money that moved': `SELECT 1 FROM stored_transfer WHERE state = 'moved'`,
  'a credit': `SELECT 1 FROM stored_transfer WHERE state = 'credited'`,
}

it('a database that is rebuilt at any moment equals the lost one', async () => {
  const seen = new Set<string>()
  const saw = (rebuilt: DatabaseSync) => {
    for (const [kind, sql] of Object.entries(kinds)) if (rebuilt.prepare(sql).get() !== undefined) seen.add(kind)
  }
  for (let seed = from; seed < from + seeds; seed += 1) {
    for (const overrides of [{ archive: null }, busy]) {
      const random = createRandom(seed)
      // in a third of the runs the database has data when its archive begins
      const times = { from: random.pick([0, 0, 60_000]), rebuiltAt: random.int(10_000, 200_000) }
      const { violation } = await run(seed, { overrides, beside: archiveBeside(times, saw) })
      const isFault = violation?.startsWith(archiveFault) ?? false // the run itself is another test's
      expect({ seed, isBusy: overrides === busy, fault: isFault ? violation : null }).toMatchObject({ fault: null })
    }
  }
  expect(seen).toEqual(new Set(Object.keys(kinds)))
}, 3_600_000)
