import * as z from 'zod/mini'
import { deriveAddress } from '../addresses/derive.ts'
import { type Address, formatBase58 } from '../chain/address.ts'
import { balancesMax } from '../chain/chain.ts'
import { reservedUid } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import { allUsers, type UserRange } from '../common/user-range.ts'
import { type Config, parseConfig } from '../config/config.ts'
import {
  type Bindings,
  entryOf,
  hasRepeats,
  listOf,
  optional,
  parseBindings,
  parsedBy,
  text,
} from '../config/schemas.ts'

/** Most cells: each health check reads all of them. */
export const cellsMax = 50

/** The cells of a deployment: at least one. */
export type Cells = readonly [CellConfig, ...CellConfig[]]

/** One cell of the configuration: a whole deployment over a database of its own. */
export interface CellConfig {
  /** Its place in `CELLS`, from 1. Null if the deployment has only this cell: then nobody hears of cells. */
  readonly number: number | null
  readonly users: UserRange
  /** Follows the names of the cell's Durable Objects. Empty for the database `DB`, so a deployment that gets a second cell keeps its objects. */
  readonly suffix: string
  /** The payout addresses of all cells: what is read for one serves the others. */
  readonly payoutAddresses: readonly Address[]
  /** The other cells' databases with their users: they are read only when a range has changed. */
  readonly others: readonly { readonly db: D1Database; readonly users: UserRange }[]
  readonly config: Config
}

const firstBinding = 'DB'
const dbExpected = 'the name of a D1 binding'
const uidsExpected = 'a range of users such as "1-999999"; the last range has no end, as in "1000000-"'
const rangeForm = /^([1-9]\d{0,15})-([1-9]\d{0,15})?$/

const users = parsedBy(text(uidsExpected), (value, refuse): UserRange => {
  const [, from, to] = rangeForm.exec(value) ?? []
  const range = { from: Number(from), to: to === undefined ? reservedUid : Number(to) }
  const isRange = range.from <= range.to && range.to <= reservedUid // false for NaN
  return isRange ? (range as UserRange) : refuse(uidsExpected) // safe: numbers of users, in order
})

const cellEntry = entryOf({
  db: text(dbExpected),
  uids: users,
  xpub: text('the name of the secret with the extended public key of this cell'),
  payouts: z.optional(z.unknown()),
})
/** One entry of `CELLS`. */
export type CellEntry = z.infer<typeof cellEntry>

const cells = parsedBy(
  z.looseObject({ CELLS: optional(listOf(cellEntry, cellsMax)) }),
  ({ CELLS: entries, PAYOUTS: payouts }, refuse) => {
    if (entries === null) return null
    const at = (list: readonly unknown[], member: string) => {
      if (hasRepeats(list)) refuse(`another ${member} for each cell`, 'CELLS')
    }
    at(
      entries.map(({ db }) => db),
      'db',
    )
    at(
      entries.map(({ xpub }) => xpub),
      'xpub',
    )
    const fault = whyNotAll(entries.map(({ uids }) => uids))
    if (fault !== null) refuse(fault, 'CELLS')
    if (payouts !== undefined && payouts !== null && payouts !== '')
      refuse('not beside CELLS: each cell has its own payouts', 'PAYOUTS')
    return entries
  },
)

/** Why the ranges are not all users, each in one of them; or null. */
function whyNotAll(ranges: readonly UserRange[]): string | null {
  let next = 1
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    if (from !== next) return `${from < next ? `two ranges with user ${from}` : `no range with user ${next}`}`
    next = to + 1
  }
  return next > reservedUid ? null : `no range with user ${next}; the last one has no end`
}

/**
 * Parses the bindings into cells: one without `CELLS`. Each cell has its database, key and payouts, and shares everything else. The allowances of the nodes are
 * divided among the cells, so a cell never uses what another one needs. The faults are as in `parseConfig`.
 */
export function parseCells(bindings: Bindings): Result<Cells, readonly string[]> {
  const entries = parseEntries(bindings)
  if (!entries.ok) return entries
  if (entries.value === null) {
    const config = parseConfig(bindings)
    if (!config.ok) return config
    const payoutAddresses = payoutAddressesOf([config.value])
    const only = {
      number: null,
      users: allUsers,
      suffix: '',
      config: config.value,
      payoutAddresses,
      others: [],
    }
    return ok([only])
  }
  const list = entries.value
  const parsed = list.map((entry, i) => parseCell(bindings, entry, numberAt(list, i), list.length))
  const faults = parsed.flatMap((one) => (one.ok ? [] : one.error))
  if (faults.length > 0) return err([...new Set(faults)])
  const valid = parsed.flatMap((one) => (one.ok ? [one.value] : []))
  const payoutAddresses = payoutAddressesOf(valid.map(({ config }) => config))
  const configured = valid.map((cell) =>
    Object.freeze({
      ...cell,
      payoutAddresses,
      others: valid.flatMap((other) => (other === cell ? [] : { db: other.config.db, users: other.users })),
    }),
  )
  const shared = findShared(configured)
  return shared.length > 0 ? err(shared) : ok(Object.freeze(configured) as unknown as Cells) // safe: `CELLS` has at least one
}

/** Parses only the list of cells; null without `CELLS`. */
export function parseEntries(bindings: Bindings): Result<readonly CellEntry[] | null, readonly string[]> {
  return parseBindings(cells, bindings)
}

/** The bindings that a cell would have as a deployment of its own. */
export function bindingsOfCell(bindings: Bindings, { db, xpub, payouts }: CellEntry): Bindings {
  return { ...bindings, CELLS: undefined, DB: bindings[db], TRON_XPUB: bindings[xpub], PAYOUTS: payouts }
}

/** The number of a cell by its place in the list: null if it is the only one. */
export const numberAt = (entries: readonly CellEntry[], i: number) => (entries.length === 1 ? null : i + 1)

/** Parses one cell. */
function parseCell(
  bindings: Bindings,
  entry: CellEntry,
  number: number | null,
  count: number,
): Result<Omit<CellConfig, 'payoutAddresses' | 'others'>, readonly string[]> {
  const config = parseConfig(bindingsOfCell(bindings, entry))
  if (!config.ok) {
    const names: readonly (readonly [string, string])[] = [
      ['DB', 'db'],
      ['TRON_XPUB', 'xpub'],
      ['PAYOUTS', 'payouts'],
    ]
    // What a cell has of its own is named by its entry.
    const renamed = config.error.map((fault) => {
      const [name, member] = names.find(([name]) => fault.startsWith(`${name}:`) || fault.startsWith(`${name}.`)) ?? []
      return name === undefined ? fault : `CELLS.${(number ?? 1) - 1}.${member}${fault.slice(name.length)}`
    })
    return err(renamed)
  }
  const nodes = config.value.nodes.map((node) => ({
    ...node,
    perSecond: Math.floor(node.perSecond / count),
    perDay: Math.floor(node.perDay / count),
  }))
  const tooFew = nodes.findIndex(({ perSecond, perDay }) => perSecond < 1 || perDay < 1)
  if (tooFew >= 0) return err([`TRON_NODES.${tooFew}: at least ${count} requests a second, one for each cell`])
  const suffix = entry.db === firstBinding ? '' : ` ${entry.db}`
  return ok({
    number,
    users: entry.uids,
    suffix,
    config: Object.freeze({ ...config.value, nodes: Object.freeze(nodes) }),
  })
}

const payoutAddressesOf = (configs: readonly Config[]): readonly Address[] =>
  configs.flatMap(({ payouts }) => payouts?.address ?? [])

/** The things that two cells must not share: a key, a payout address, or a payout address that the key of another one derives first. */
function findShared(list: readonly CellConfig[]): readonly string[] {
  const payoutAddresses = list[0]?.payoutAddresses ?? []
  const count = payoutAddresses.length > 0 ? balancesMax : 1 // deriving an address takes a millisecond, in each new isolate
  const firstAddresses = list.map(({ config }) =>
    Array.from({ length: count }, (_, index) => deriveAddress(config.extendedPublicKey, index)),
  )
  const faults: string[] = []
  if (hasRepeats(firstAddresses.map(([first]) => first))) faults.push('CELLS: another key for each cell')
  if (hasRepeats(payoutAddresses)) faults.push('CELLS: another payout address for each cell')
  const paysUsers = list.some(({ config: { operators, payouts } }) =>
    payoutAddresses.some((address) => address !== payouts?.address && operators.has(address)),
  )
  if (paysUsers)
    faults.push('OPERATOR_ADDRESSES: without the payout address of a cell, which pays users of other cells')
  const derived = payoutAddresses.find((address) => firstAddresses.some((addresses) => addresses.includes(address)))
  if (derived !== undefined) {
    faults.push(`CELLS: ${formatBase58(derived)} is one of the first ${balancesMax} addresses of a cell's key`)
  }
  return faults
}
