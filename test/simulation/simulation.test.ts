import { describe, expect, it } from 'vitest'
import { payingWith } from './defects.ts'
import { createSimulation } from './run.ts'
import {
  calmPayouts,
  calmRates,
  freeAllowance,
  nodeKinds,
  nodeTrial,
  noHardships,
  noTroubles,
  type Overrides,
} from './scenario.ts'

const run = createSimulation()
const repeat = (seed: number) => `seed ${seed}; repeat it with: npm run simulate -- --seeds 1 --from ${seed} --trace`

const { honest, liar } = nodeKinds
const three = { nodes: [honest, honest, honest], quorum: 2, rates: calmRates, troubles: noTroubles }
const two = { ...three, nodes: [honest, honest] }
/**
 * Switches off payouts, refusals, issuers, contracts that send TRX, and decisions. A case that is
 * about one of them switches it on.
 */
const without = {
  payouts: null,
  further: calmPayouts,
  orders: null,
  archive: null,
  refusals: null,
  issuer: 0,
  sending: 0,
  reviews: false,
  hardships: noHardships,
}
// a lie begins only beside a quorum of honest nodes, so never with two nodes
const quiet = { ...nodeTrial, trouble: 'values of any kind' } as const
const noRefusals = { speaksNext: true, unrendered: null, closed: null, closedNode: 1, trial: null } as const
const fullBlocks = { dust: 0, logs: 40, logsMax: 12, questions: 3, keepsMemory: true, nodeFault: 'none' } as const
const greed = { ...fullBlocks, dust: 600, logs: 0, logsMax: 10_000, questions: 90 }

/**
 * Each kind of fault that once broke a promise, as a scenario in which the fault is certain to
 * occur. The seeds that failed then are not kept: a seed gives another run whenever the random
 * draws in the code change.
 */
const onceFailed: readonly (readonly [sentence: string, overrides: Overrides])[] = [
  [
    'one of two overlapping scanners ends a scan that the other has begun',
    { rates: { ...calmRates, kill: 0.3, slow: 0.02 } },
  ],
  ['everything is stored although every invocation around it is killed', { rates: { ...calmRates, kill: 0.6 } }],
  [
    'a database that is slow hides neither that a scan ended nor when it began',
    { rates: { ...calmRates, slow: 0.05 } },
  ],
  ['a node that holds its head back is outvoted', { nodes: [liar, honest, honest], quorum: 2, rates: calmRates }],
  ['with fewer requests than ticks need, no node gets one too many', { allowance: { perSecond: 3, perDay: 150 } }],
  [
    'a correction lets money be mined again in another block, and drops what is not there any more',
    {
      ending: 'correction',
      finalityLag: 4,
      rates: calmRates,
    },
  ],
  [
    'corrections, rescans and copies of the database keep what was credited, once',
    { rates: { ...calmRates, operator: 0.5 } },
  ],
  ['nothing is credited while final blocks are rewritten', { ending: 'fork', rates: calmRates }],
  ['one transaction that cannot be read keeps nothing else of its block from being credited', { hasUnreadable: true }],
  ['fees and deposits under way are no shortfall', { reconciles: true, rates: calmRates }],
  [
    'false balances are no difference for ever',
    {
      nodes: [liar, honest],
      quorum: 2,
      reconciles: true,
      rates: { ...calmRates, byzantine: 0.5 },
    },
  ],
  [
    'payouts of signers that are killed at any step are paid once',
    payingWith({ rates: { kill: 0.2, database: 0.08 }, payouts: { signers: 2, kill: 1 } }),
  ],
  [
    'whatever nodes do with transactions, each payout comes to an end',
    payingWith({ payouts: { blockMs: 15_000, trouble: 1, failing: 0.4 } }),
  ],
  [
    'a database that is older than the journal pays nothing twice and returns nothing that was paid',
    payingWith({ rates: { operator: 0.5 }, payouts: { blockMs: 15_000, trouble: 0.3 } }),
  ],
  [
    'what the payout address has sent is found, although PAYOUTS was away when it was final and a journal is lost',
    payingWith({ rates: { operator: 0.5 }, payouts: { blockMs: 15_000, losesJournal: true, losesSetting: true } }),
  ],
  [
    'a journal that is lost has nothing signed twice',
    payingWith({ rates: { kill: 0.05 }, payouts: { blockMs: 15_000, trouble: 0.8, losesJournal: true } }),
  ],
  [
    'a call of the database without an end keeps no transaction from being sent again',
    payingWith({ troubles: { ...noTroubles, hanging: 0.1 }, payouts: { blockMs: 15_000, trouble: 1 } }),
  ],
  [
    'a block that no node can render is a gap in the words of any version, and all behind it is credited',
    { ...three, refusals: { ...noRefusals, unrendered: 'all' } },
  ],
  [
    'transactions that end otherwise in the right chain are paid once, whatever people do meanwhile',
    payingWith({ payouts: { failing: 0.2 }, hardships: { reverses: true } }),
  ],
  [
    'orders that a restored database lacks are asked for again, and nobody hears of payouts',
    { ...two, orders: { asked: 0.8 }, rates: { ...calmRates, operator: 0.5 } },
  ],
  [
    'orders are what their deposits say, whatever acts between two statements and is looked at',
    { orders: { asked: 1 }, reviews: true, hardships: { ...noHardships, rivals: 0.1 } },
  ],
  ['decimals that differ hold a currency, and no other one', { decimalsDiffer: true, reconciles: true }],
]

/**
 * Scenarios in which times are checked, too. The scan must be where the chain was two ticks before.
 * Credits and their events must come soon. A warning or an alarm must soon name a bad node. The
 * requests of a tick are limited. All other runs check only what happens, not when.
 */
const inTime: readonly (readonly [sentence: string, overrides: Overrides])[] = [
  [
    'four nodes that must agree about blocks with too many logs have requests enough',
    {
      nodes: [liar, honest, honest, honest],
      quorum: 3,
      storm: fullBlocks,
    },
  ],
  [
    'a node that times out again and again does not use up the time of a tick',
    {
      nodes: [honest, honest, honest],
      quorum: 2,
      storm: { ...fullBlocks, nodeFault: 'away' },
    },
  ],
  [
    'a node that leaves logs out of its replies is outvoted',
    {
      nodes: [honest, liar, honest],
      quorum: 2,
      storm: { ...fullBlocks, nodeFault: 'byzantine' },
    },
  ],
  [
    'malformed replies of one node stop nothing',
    {
      nodes: [honest, honest, honest],
      quorum: 2,
      storm: { ...greed, nodeFault: 'malformed' },
    },
  ],
  [
    'a caller who asks what costs most takes nothing from a tick',
    {
      nodes: [honest, honest],
      quorum: 2,
      allowance: { ...freeAllowance, perSecond: 5 },
      storm: greed,
    },
  ],
  ['nothing that a node says stops a tick', { ...three, trial: { ...nodeTrial, trouble: 'values of any kind' } }],
  [
    'one node that invents transfers above finality fills nothing and delays nobody',
    { ...three, troubles: { ...noTroubles, transfers: 260 }, trial: { ...nodeTrial, trouble: 'invented tail' } },
  ],
  [
    'more blocks than there can be are a lie of their node, and are forgotten',
    {
      ...three,
      finalityLag: 18,
      scanEverySeconds: 10,
      allowance: freeAllowance,
      trial: { ...nodeTrial, trouble: 'tail far ahead' },
    },
  ],
  [
    'a final head that is too high is outvoted, though another node is a block behind',
    { ...three, trial: { ...nodeTrial, trouble: 'final head too high' } },
  ],
  [
    'a node that takes no batches and answers just in time ends no tick',
    { ...three, evicts: true, trial: { ...nodeTrial, trouble: 'no batches, and slow' } },
  ],
  [
    'a node that takes no batches decides how long questions are, though another one is cut off',
    {
      ...three,
      batchless: 2,
      allowance: { ...freeAllowance, perSecond: 3 },
      trial: { ...nodeTrial, trouble: 'cut off', platform: 'hanging', minutes: 9 },
    },
  ],
  [
    'a node that gives no final block stops nothing, though another one takes no batches',
    {
      ...three,
      batchless: 2,
      allowance: { ...freeAllowance, perSecond: 3 },
      trial: { ...nodeTrial, trouble: 'final blocks missing', platform: 'hanging', minutes: 9 },
    },
  ],
  [
    'a final head that is far too high names its node, and no other one',
    { ...three, finalityLag: 18, scanEverySeconds: 60, trial: { ...nodeTrial, trouble: 'final head far too high' } },
  ],
  ['a node that is slow keeps nobody waiting', { ...three, trial: { ...nodeTrial, trouble: 'slow' } }],
  [
    'junk in the replies of one node costs no other one requests',
    { ...three, trial: { ...nodeTrial, trouble: 'junk' } },
  ],
  ['a node that is cut off is named', { ...three, trial: { ...nodeTrial, trouble: 'cut off' } }],
  [
    'a node that is cut off and needed is named, and the finality of the network is not blamed',
    { ...two, trial: { ...nodeTrial, trouble: 'cut off' } },
  ],
  [
    'a node that allows fewer requests a second than it should is asked more slowly',
    { ...two, trial: { ...nodeTrial, trouble: 'fewer requests a second' } },
  ],
  ['a clock that was ahead and steps back stops nothing', { ...two, trial: { ...quiet, platform: 'clock' } }],
  ...(['well', 'killed', 'full', 'hanging', 'halted'] as const).map(
    (neighbour) =>
      [
        `another cell that is ${neighbour} delays nothing in this one, and nobody is in both`,
        { ...three, neighbour, trial: quiet },
      ] as const,
  ),
  [
    'three blocks that every node lacks for ever stop nothing else',
    { ...three, hardships: { ...noHardships, lacking: { nodes: 'all', what: 'blocks', count: 3 } }, trial: quiet },
  ],
  [
    'logs that one of two nodes lacks for ever stop nothing else',
    { ...two, hardships: { ...noHardships, lacking: { nodes: 'one', what: 'contents', count: 3 } }, trial: quiet },
  ],
  [
    'a node that gives heads and refuses what blocks contain is named',
    { ...three, trial: { ...nodeTrial, trouble: 'contents refused', minutes: 7 } },
  ],
  [
    'a node without peers delays no transaction, whatever it says',
    payingWith({ nodes: [honest, honest, honest], hardships: { deaf: 1 } }),
  ],
  [
    'what every node refuses has an alarm soon',
    payingWith({ nodes: [honest, honest, honest], hardships: { refused: 0.3 } }),
  ],
  ['a database that is away for 80 s loses nothing', { ...two, trial: { ...quiet, platform: 'away' } }],
  ['a database that is full loses nothing', { ...two, trial: { ...quiet, platform: 'full' } }],
  [
    'a call of the database without an end ends no more than its tick',
    { ...two, trial: { ...quiet, platform: 'hanging' } },
  ],
  ['a scanner that is evicted after each tick asks no more than another', { ...two, evicts: true, trial: quiet }],
  [
    'a node whose HTTP API is switched off is named, and the others go on',
    { ...three, trial: { ...nodeTrial, trouble: 'API switched off' } },
  ],
  ['a lite node is named, and the others go on', { ...three, trial: { ...nodeTrial, trouble: 'lite node' } }],
]

describe('the simulation', { timeout: 3_600_000 }, () => {
  it.each(onceFailed)('%s', async (_, overrides) => {
    expect((await run(1, { overrides: { ...without, ...overrides } })).violation).toBeNull()
  })

  it.each(inTime)('in time: %s', async (_, overrides) => {
    expect((await run(1, { overrides: { ...without, ...overrides, timed: true } })).violation).toBeNull()
  })

  // Many more seeds run without a mistake when deliberate mistakes are looked for
  // (`simulate.ts --defects`).
  it('keeps every promise in further seeds', async () => {
    // What once failed. Fifth seed: unreadable blocks were never read again from a node that takes
    // no batches while ticks were frequent. Sixth seed: a copy of the database without any payout
    // is restored, and backends repeat their requests late. Seventh seed: such a copy is noticed
    // only after an hour.
    for (const seed of [1, 2, 3, 4, 910_000_909, 2_100_000_347, 1_100_001_988])
      expect((await run(seed)).violation, repeat(seed)).toBeNull()
  })

  it.each([1, 2, 3])(
    'an archive has every line once, whatever its bucket, two writers and restores do: seed %i',
    async (seed) => {
      const archive = { trouble: 0.4, database: 0.08, kill: 0.2, rivals: 0.5, operator: 0.3, sealed: seed > 1 }
      const overrides = { ...without, rates: calmRates, archive }
      const { violation, counts } = await run(seed, { overrides })
      expect(violation, repeat(seed)).toBeNull()
      expect(counts.get('R2: an object exists')).toBeGreaterThan(0)
    },
  )

  it('does the same for the same seed, whatever ran before', async () => {
    const eventsOf = async (seed: number) => {
      const events: string[] = []
      await run(seed, { trace: (line) => events.push(line) })
      return events
    }
    const first = await eventsOf(7)
    await eventsOf(8)
    expect(first.length).toBeGreaterThan(100)
    expect(await eventsOf(7)).toEqual(first)
  })
})
