import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import type { RescanId } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { endedStandstills, scanFaults, type WatchedScan, type WatchedState } from '../../src/worker/scan/watch.ts'

const height = (n: number) => n as BlockHeight
const ms = (n: number) => n as UnixMs
const now = ms(10_000_000)
/** The time `seconds` before now. */
const ago = (seconds: number) => ms(now - seconds * 1000)

/** A scan that was caught up at block 100 one second ago. */
const state = (changes: Partial<WatchedState> = {}): WatchedState => ({
  height: height(100),
  finalized: height(100),
  finalizedAt: ago(1),
  advancedAt: ago(1),
  caughtUpAt: ago(1),
  answeringSince: ago(1),
  halted: null,
  ...changes,
})
const scan = (changes: Partial<WatchedScan> = {}): WatchedScan => ({
  now,
  state: state(),
  head: height(100),
  latest: height(118),
  behind: [],
  failure: null,
  gaps: [],
  ended: [],
  ...changes,
})
/** What the watch remembers: since when the nodes have been answering; null while they do not. */
interface WatchMemory {
  readonly answeringSince: UnixMs | null
}
const remembering = (watched: WatchedScan, { answeringSince }: WatchMemory): WatchedScan => {
  return { ...watched, state: watched.state && { ...watched.state, answeringSince } }
}
const answering = (seconds: number): WatchMemory => ({ answeringSince: ago(seconds) })
const silent: WatchMemory = { answeringSince: null }
const noAnswer = { kind: 'no-answer', why: 'node 1: HTTP 503' } as const
const stalled = 'scan-stalled: '

/**
 * A scan one block below the newest final one. It last advanced, and was last caught up, `seconds`
 * ago.
 */
const still = (seconds: number, changes: Partial<WatchedScan> = {}) =>
  scan({ state: state({ height: height(99), advancedAt: ago(seconds), caughtUpAt: ago(seconds) }), ...changes })
/** As `still`, and the nodes do not answer. */
const silentFor = (seconds: number) => still(seconds, { head: null, failure: noAnswer })
const since = (finalizedAt: number, changes: Partial<WatchedState> = {}) =>
  state({ finalizedAt: ago(finalizedAt), ...changes })
const unstarted = scan({ state: null, head: null, failure: noAnswer })
const lateness = ['scan-stalled', 'scan-behind']
const limited = { kind: 'limited', whose: 'nodes', seconds: 1200 } as const
const disagreement = { kind: 'disagreement', about: 'block 100' } as const
const silentWithoutFinality = {
  ...silentFor(181),
  state: since(900, { height: height(99), advancedAt: ago(181), caughtUpAt: ago(181) }),
}
const behind = scan({ state: since(3600, { advancedAt: ago(3600), caughtUpAt: ago(3600) }), head: height(90) })
const forked = state({ halted: 'block 101 does not follow', advancedAt: ago(900), caughtUpAt: ago(900) })

describe('the watch over the scan', () => {
  it.each<[what: string, scan: WatchedScan, memory: WatchMemory, alarms: string[]]>([
    ['a scan that is caught up', scan(), answering(900), []],
    ['a scan that moves', scan({ state: state({ height: height(60), caughtUpAt: ago(5000) }) }), answering(900), []],
    ['a scan that stands still for three minutes', still(181), answering(900), [`${stalled}no block was stored`]],
    ['a scan that stands still for less', still(180), answering(900), []],
    ['silent nodes', silentFor(181), silent, [`${stalled}no quorum of nodes answers: node 1: HTTP 503`]],
    ['nodes that are silent for less', silentFor(180), silent, []],
    [
      'nodes that disagree',
      still(181, { failure: disagreement }),
      answering(900),
      [`${stalled}the nodes disagree about block 100`],
    ],
    [
      'an allowance that is used up',
      still(181, { failure: limited }),
      answering(900),
      [`${stalled}the allowance of the nodes is used up: there is room again in 1200 s`],
    ],
    [
      'nodes that are too slow',
      still(181, { failure: { kind: 'out-of-time' } }),
      answering(900),
      [`${stalled}the nodes answer too slowly: a tick ends before it has read everything`],
    ],
    [
      'nodes of which one cannot be used, and another one is too slow',
      still(181, { failure: { kind: 'out-of-time', why: 'node 1: it is a lite node' } }),
      answering(900),
      [`${stalled}the nodes answer too slowly: a tick ends before it has read everything: node 1: it is a lite node`],
    ],
    [
      'no new final block for three minutes',
      scan({ state: since(181) }),
      answering(900),
      ['finality-stalled: undefined'],
    ],
    [
      'no new final block for three minutes, since one of two nodes is cut off',
      scan({ state: since(181), behind: [{ node: 'node 2', height: height(100) }] }),
      answering(900),
      [`${stalled}too few nodes have newer final blocks: node 2 is behind: its newest final block is 100`],
    ],
    ['a node that has just returned at its old head', scan({ state: since(3600) }), answering(5), []],
    ['a node that has just returned, below what was final', behind, answering(180), []],
    [
      'a node that remains below what was final',
      behind,
      answering(181),
      [`${stalled}the nodes are behind: their newest final block is 90. They may still sync`],
    ],
    ['a chain that forked', scan({ state: forked }), answering(900), ['chain-forked: block 101 does not follow']],
  ])('of %s', (_, watched, memory, expected) => {
    const faults = scanFaults(remembering(watched, memory))
    expect(faults.map(({ kind, fields }) => `${kind}: ${fields.why}`)).toEqual(expected)
  })

  it.each<[what: string, scan: WatchedScan, memory: WatchMemory, ended: string[]]>([
    ['a scan that is caught up, and a new final block', scan(), answering(900), [...lateness, 'finality-stalled']],
    ['a scan that moves', still(180), answering(900), [...lateness, 'finality-stalled']],
    ['a scan that is caught up alone', scan({ state: since(181) }), answering(900), lateness],
    ['nothing: no node has answered for long', silentWithoutFinality, silent, []],
    [
      'nothing but that it is behind: nodes have just returned, below what was final',
      behind,
      answering(5),
      ['scan-behind'],
    ],
    [
      'nothing: the scan is halted',
      scan({ state: { ...forked, height: height(99), finalizedAt: ago(900) } }),
      answering(900),
      [],
    ],
    ['nothing: the scan has not started', unstarted, silent, []],
  ])('ends the alarms of a standstill by %s', (_, watched, memory, ended) => {
    expect(endedStandstills(remembering(watched, memory))).toEqual(ended)
  })

  it('raises an alarm of a scan that moves and falls behind, once it has been for ten minutes', () => {
    const creeping = (blocks: number) =>
      scan({ head: height(100 + blocks), failure: { kind: 'no-answer', why: 'node 1: an exception of the node' } })
    expect(scanFaults(creeping(40))).toEqual([])
    const why = 'no quorum of nodes answers: node 1: an exception of the node'
    expect(scanFaults(creeping(41))).toEqual([
      { kind: 'scan-behind', subject: {}, fields: { scanned: 100, finalized: 100, blocks: 41, why }, afterMs: 600_000 },
    ])
  })

  it('raises an alarm of a scan that could not be started for three minutes', () => {
    const fields = { seconds: 180, why: 'no quorum of nodes answers: node 1: HTTP 503' }
    expect(scanFaults(unstarted)).toEqual([{ kind: 'scan-stalled', subject: {}, fields, afterMs: 180_000 }])
  })

  it('raises an alarm for each gap of its own, by its first height, with what cannot be read', () => {
    const gaps = [
      { from: height(7), to: height(7), attempts: 3, why: 'the receipt of ab12 is too large' },
      { from: height(9), to: height(30), attempts: 1, why: 'the nodes disagree' },
    ]
    expect(scanFaults(scan({ gaps: gaps.map((gap) => ({ ...gap, id: 1 as RescanId })) }))).toEqual([
      { kind: 'gap-unread', subject: { from: 7 }, fields: { ...gaps[0] } },
      { kind: 'gap-unread', subject: { from: 9 }, fields: { ...gaps[1] } },
    ])
  })
})
