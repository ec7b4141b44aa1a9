import { type Fault, standstillMs } from '../alarms/alarms.ts'
import type { UnixMs } from '../common/time.ts'
import { selectFirstStored } from '../ledger/stored-settings.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'
import type { OpenGap } from './rescans.ts'
import type { ScanContext } from './rules.ts'
import type { ScanEnd } from './scan.ts'
import type { ScanState } from './scan-state.ts'

/** The stored state of the scan, as far as the watch over it needs it. */
export type WatchedState = Pick<
  ScanState,
  'height' | 'finalized' | 'finalizedAt' | 'advancedAt' | 'caughtUpAt' | 'answeringSince' | 'halted'
>

/** What a tick found. */
export interface WatchedScan extends Pick<ScanEnd, 'head' | 'latest' | 'failure'> {
  readonly now: UnixMs
  /** Null where the scan could not be started yet. */
  readonly state: WatchedState | null
  readonly gaps: readonly OpenGap[]
  /** Further faults. */
  readonly faults: readonly Fault[]
  /** Further kinds that are known to be well. */
  readonly well: readonly AlarmKind[]
}

const settled = ['tick-failed', 'chain-forked', 'gap-unread'] as const

/** Raises and ends the alarms about the scan, at the end of a tick that threw nothing. */
export async function watchScan(
  { alarms, db }: Pick<ScanContext, 'alarms' | 'db'>,
  watched: WatchedScan,
): Promise<void> {
  // The settings are stored by whatever runs first, so they are as old as the deployment.
  const unstartedSince = watched.state === null ? await selectFirstStored(db) : null
  const faults = [...scanFaults(watched, unstartedSince), ...watched.faults]
  const raised = faults.map(({ kind }) => kind)
  await alarms.settle([...settled, ...raised, ...endedStandstills(watched), ...watched.well], faults)
}

/** A standstill has ended where something has moved. Where no node answers, or the scan is halted, that is not known. */
export function endedStandstills(watched: WatchedScan): readonly AlarmKind[] {
  const { state, now } = watched
  if (state === null) return []
  const isRecent = (at: UnixMs) => now - at <= standstillMs
  const moves = stillSince(watched, null) === null || isRecent(movedAt(state))
  return [
    ...(moves ? ['scan-stalled' as const] : []),
    ...(isRecent(state.finalizedAt) ? ['finality-stalled' as const] : []),
  ]
}

/** What is wrong with the scan, each with its cause. */
export function scanFaults(watched: WatchedScan, unstartedSince: UnixMs | null): readonly Fault[] {
  const faults: Fault[] = watched.gaps.map(({ from, to, attempts, why }) => ({
    kind: 'gap-unread',
    subject: { from },
    fields: { from, to, attempts, why },
  }))
  const { state, now } = watched
  if (state !== null && state.halted !== null) {
    return [...faults, { kind: 'chain-forked', subject: {}, fields: { scanned: state.height, why: state.halted } }]
  }
  const heights = { scanned: state?.height ?? null, finalized: state?.finalized ?? null }
  const stillMs = now - (stillSince(watched, unstartedSince) ?? now)
  if (stillMs > standstillMs) {
    const fields = { ...heights, seconds: Math.floor(stillMs / 1000), why: causeOf(watched) }
    faults.push({ kind: 'scan-stalled', subject: {}, fields })
  }
  const stalledMs = now - (finalitySince(watched) ?? now)
  if (stalledMs > standstillMs) {
    const fields = { ...heights, latest: watched.latest, seconds: Math.floor(stalledMs / 1000) }
    faults.push({ kind: 'finality-stalled', subject: {}, fields })
  }
  return faults
}

/** Since when the scan stands still; null where all final blocks that nodes know of are read. */
function stillSince({ state, head }: WatchedScan, unstartedSince: UnixMs | null): UnixMs | null {
  if (state === null) return unstartedSince
  if (head !== null && head < state.finalized) return quietSince(state)
  const isCaughtUp = head !== null && state.height >= state.finalized
  return isCaughtUp ? null : movedAt(state)
}

const movedAt = ({ advancedAt, caughtUpAt }: WatchedState) => Math.max(advancedAt, caughtUpAt) as UnixMs // safe: one of both

/** Since when nodes that answer and are not behind show no new final block. */
function finalitySince({ state, head }: WatchedScan): UnixMs | null {
  return state === null || head === null || head < state.finalized ? null : quietSince(state)
}

/** After an outage of the nodes the time begins anew: one that has returned may still sync. */
function quietSince({ finalizedAt, answeringSince }: WatchedState): UnixMs | null {
  return answeringSince === null ? null : (Math.max(finalizedAt, answeringSince) as UnixMs) // safe: one of both
}

/** What an operator can act on. Nodes are named by their number. */
function causeOf({ state, head, failure }: WatchedScan): string {
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
      return 'the nodes answer too slowly: a tick ends before it has read anything'
    case undefined:
      if (state === null) return 'the scan has not started'
      if (head === null) return 'the nodes gave no finalized head'
      if (head < state.finalized)
        return `the nodes are behind: their newest final block is ${head}. They may still sync`
      return 'no block was stored'
  }
}
