import { standstillMs } from '../alarms/alarms.ts'
import type { UnixMs } from '../common/time.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'
import type { Fault, Observation } from '../platform/observation.ts'
import type { ScanEnd } from './scan.ts'
import type { ScanState } from './store/position.ts'
import type { OpenGap } from './store/rescans.ts'

export type WatchedState = Pick<
  ScanState,
  'height' | 'finalized' | 'finalizedAt' | 'advancedAt' | 'caughtUpAt' | 'answeringSince' | 'halted'
>

/** A tick's result, from which the faults of the scan are found. */
export interface WatchedScan extends Pick<ScanEnd, 'head' | 'latest' | 'behind' | 'failure'> {
  readonly now: UnixMs
  /** Null if the scan could not be started yet. */
  readonly state: WatchedState | null
  readonly gaps: readonly OpenGap[]
  /** Further kinds of alarms whose cause is known to be gone. */
  readonly ended: readonly AlarmKind[]
}

/** Alarms that end unless a tick finds their cause again. */
const found = ['tick-failed', 'chain-forked', 'gap-unread'] as const

/**
 * The scan falls behind if, for `behindMs`, every tick ends more than this many blocks below the
 * newest final one.
 */
const behindBlocksMax = 40
const behindMs = 600_000

/**
 * The faults of the scan after a tick that did not throw. All other alarms of the returned kinds
 * end.
 */
export function watchScan(watched: WatchedScan): Observation {
  const faults = scanFaults(watched)
  const raised = faults.map(({ kind }) => kind)
  return { kinds: [...found, ...raised, ...endedStandstills(watched), ...watched.ended], faults }
}

/**
 * The alarms about a standstill that end, because the scan or the newest final block has moved.
 * While no node answers or the scan is halted, nobody knows whether the scan is still behind, so
 * `scan-behind` stays.
 */
export function endedStandstills(watched: WatchedScan): readonly AlarmKind[] {
  const { state, now } = watched
  if (state === null) return []
  const isRecent = (at: UnixMs) => now - at <= standstillMs
  const moves = stillSince(watched, state) === null || isRecent(movedAt(state))
  return [
    ...(moves ? ['scan-stalled' as const] : []),
    ...(watched.head !== null && state.halted === null ? ['scan-behind' as const] : []),
    ...(isRecent(state.finalizedAt) ? ['finality-stalled' as const] : []),
  ]
}

/** The faults of the scan, each with its cause. */
export function scanFaults(watched: WatchedScan): readonly Fault[] {
  const faults: Fault[] = watched.gaps.map(({ from, to, attempts, why }) => ({
    kind: 'gap-unread',
    subject: { from },
    fields: { from, to, attempts, why },
  }))
  const { state, now } = watched
  if (state === null) {
    const fields = { seconds: standstillMs / 1000, why: causeOf(watched) }
    return [...faults, { kind: 'scan-stalled', subject: {}, fields, afterMs: standstillMs }]
  }
  if (state.halted !== null) {
    return [...faults, { kind: 'chain-forked', subject: {}, fields: { scanned: state.height, why: state.halted } }]
  }
  const heights = { scanned: state.height, finalized: state.finalized }
  const stillMs = now - (stillSince(watched, state) ?? now)
  if (stillMs > standstillMs) {
    const fields = { ...heights, seconds: Math.floor(stillMs / 1000), why: causeOf(watched) }
    faults.push({ kind: 'scan-stalled', subject: {}, fields })
  } else if (watched.head !== null && watched.head - state.height > behindBlocksMax) {
    const fields = { ...heights, blocks: watched.head - state.height, why: causeOf(watched) }
    faults.push({ kind: 'scan-behind', subject: {}, fields, afterMs: behindMs })
  }
  const stalledMs = now - (finalitySince(watched, state) ?? now)
  if (stalledMs > standstillMs) {
    const fields = { ...heights, latest: watched.latest, seconds: Math.floor(stalledMs / 1000) }
    faults.push({ kind: 'finality-stalled', subject: {}, fields })
  }
  return faults
}

/**
 * Since when the scan stands still; null if it has read all final blocks that nodes know of and no
 * node is behind.
 */
function stillSince({ head, behind }: WatchedScan, state: WatchedState): UnixMs | null {
  if (head !== null && head < state.finalized) return quietSince(state)
  if (head === null || state.height < state.finalized) return movedAt(state)
  return behind.length > 0 ? quietSince(state) : null // while nodes are behind, newer blocks may lack a quorum
}

// safe: one of both
const movedAt = ({ advancedAt, caughtUpAt }: WatchedState) => Math.max(advancedAt, caughtUpAt) as UnixMs

/**
 * Since when no new final block was shown; null if that is unknown, because no quorum answers, its
 * head is older than the stored one, or a node is behind.
 */
function finalitySince({ head, behind }: WatchedScan, state: WatchedState): UnixMs | null {
  return head === null || head < state.finalized || behind.length > 0 ? null : quietSince(state)
}

/**
 * Since when nodes have shown no newer final block than the stored one. After an outage of all
 * nodes the time starts again, because a returning node may still sync. Null while no node answers.
 */
function quietSince({ finalizedAt, answeringSince }: WatchedState): UnixMs | null {
  return answeringSince === null ? null : (Math.max(finalizedAt, answeringSince) as UnixMs) // safe: one of both
}

/** A cause that an operator can act on. Nodes are named by their number. */
function causeOf({ state, head, behind, failure }: WatchedScan): string {
  switch (failure?.kind) {
    case 'no-answer':
      return `no quorum of nodes answers: ${failure.why}`
    case 'disagreement':
      return `the nodes disagree about ${failure.about}`
    case 'forked':
      return `block ${failure.at} does not follow the one before it`
    case 'limited':
      return `the allowance of the nodes is used up: there is room again in ${failure.seconds} s`
    case 'out-of-time':
      return `the nodes answer too slowly: a tick ends before it has read everything${failure.why === undefined ? '' : `: ${failure.why}`}`
    case undefined:
      if (state === null) return 'the scan has not started'
      if (head === null) return 'the nodes gave no finalized head'
      if (head < state.finalized)
        return `the nodes are behind: their newest final block is ${head}. They may still sync`
      if (behind.length > 0) return `too few nodes have newer final blocks: ${behind.map(describeBehind).join('; ')}`
      return 'no block was stored'
  }
}

function describeBehind({ node, height }: ScanEnd['behind'][number]): string {
  return `${node} ${height === null ? 'shows no final block' : `is behind: its newest final block is ${height}`}`
}
