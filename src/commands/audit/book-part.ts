import { hash } from 'node:crypto'
import type { StatementSync } from 'node:sqlite'
import type { ArchivedCurrency } from './currencies.ts'
import type { ArchiveLine, LineOf } from './lines.ts'

/** How much was checked. */
export interface BookCounts {
  entries: number
  /** Recharges: credited deposits. */
  credits: number
  paid: number
  /** The number of the newest line up to which the archive is complete; −1 before the first one. */
  completeTo: number
}

/** The means that all parts of the books share. */
export interface BookContext {
  readonly counts: BookCounts
  /** Prepares a statement on the tables below. */
  readonly prepare: (sql: string) => StatementSync
  /** The currency of this number in the newest configuration. */
  readonly currency: (cuy: number) => ArchivedCurrency
  /**
   * Has `check` of this kind called with the id at the next point at which the archive is complete,
   * because it depends on lines that may still follow. A fault is one of the line of this number.
   */
  readonly later: (kind: PendingKind, id: number, line: number) => void
}

/**
 * The subject of a check that must wait: the id of a transfer, or that of a payout. `removed` ends
 * with the line of this kind.
 */
export type PendingKind = 'address' | 'removed' | 'payout' | 'payment'

/** Takes lines of some kinds. Each function throws a `WrongLine`. */
export type Takers = { readonly [Kind in ArchiveLine['row']]?: (line: LineOf<Kind>, number: number) => void }

/** A part of the books. */
export interface BookPart {
  readonly takers: Takers
  /** Checks what `later` has named. */
  readonly checks?: { readonly [Kind in PendingKind]?: (id: number) => void }
  /** Checks the part as a whole where the archive is complete. */
  readonly whole?: () => void
}

/** A key of several parts, as a text that is not long. */
export function shortKey(...parts: readonly (string | number)[]): string {
  const text = parts.join(' ')
  return text.length <= keyCharsMax ? text : hash('sha256', text).slice(0, keyCharsMax)
}

/** A longer key becomes so many hex digits. A shorter one has a space, so none is equal to them. */
const keyCharsMax = 32
