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

/**
 * The most cells of a deployment, limited because each health check reads the databases of all
 * cells.
 */
export const cellsMax = 50

/** All cells of a deployment, in the order of `CELLS`. */
export type Cells = readonly [CellConfig, ...CellConfig[]]

/**
 * One cell: a range of users with a database, a key, a scanner and payouts of its own. A deployment
 * without `CELLS` is a single cell.
 */
export interface CellConfig {
  /**
   * The place of the cell in `CELLS`, from 1. Null if the deployment has only this cell: then no
   * answer or message mentions cells.
   */
  readonly number: number | null
  readonly users: UserRange
  /**
   * The end of the names of this cell's Durable Objects. It is empty for the database `DB`, so that
   * a deployment without `CELLS` keeps its objects when it is divided into cells.
   */
  readonly suffix: string
  /**
   * The payout addresses of all cells. Each cell reads the transfers of all of them, so that cells
   * can share the blocks that they read.
   */
  readonly payoutAddresses: readonly Address[]
  /**
   * The databases of the other cells, with their users and the first address of their key. This
   * cell reads them only when its own range has changed.
   */
  readonly others: readonly { readonly db: D1Database; readonly users: UserRange; readonly firstAddress: Address }[]
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

/** Returns null if every user is in exactly one of the ranges, else the fault, for the operator. */
function whyNotAll(ranges: readonly UserRange[]): string | null {
  let next = 1
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    if (from !== next) return `${from < next ? `two ranges with user ${from}` : `no range with user ${next}`}`
    next = to + 1
  }
  return next > reservedUid ? null : `no range with user ${next}; the last one has no end`
}

/**
 * Parses the bindings into cells; without `CELLS` into a single one. A cell has its own database,
 * key and payouts; all other settings are the same in each. Each cell gets an equal part of every
 * node's allowance, so that no cell uses up what another one needs. Returns faults as `parseConfig`
 * does.
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
  // Without payouts only the first address is compared, because deriving an address takes a
  // millisecond in each new isolate.
  const count = payoutAddresses.length > 0 ? balancesMax : 1
  const derived = valid.map(({ config, users }) => ({ db: config.db, users, addresses: derivedOf(config, count) }))
  const all = derived.map(({ db, users, addresses: [firstAddress] }) => ({ db, users, firstAddress }))
  const configured = valid.map((cell, i) =>
    Object.freeze({ ...cell, payoutAddresses, others: all.filter((_, k) => k !== i) }),
  )
  const shared = findShared(
    configured,
    derived.map(({ addresses }) => addresses),
  )
  // safe: `CELLS` has at least one
  return shared.length > 0 ? err(shared) : ok(Object.freeze(configured) as unknown as Cells)
}

/** Parses only `CELLS` itself, not the bindings that it names; null if it is not set. */
export function parseEntries(bindings: Bindings): Result<readonly CellEntry[] | null, readonly string[]> {
  return parseBindings(cells, bindings)
}

/**
 * Returns the bindings with which a deployment without `CELLS` would be this cell, for
 * `parseConfig`.
 */
export function bindingsOfCell(bindings: Bindings, { db, xpub, payouts }: CellEntry): Bindings {
  return { ...bindings, CELLS: undefined, DB: bindings[db], TRON_XPUB: bindings[xpub], PAYOUTS: payouts }
}

/** The `number` of the cell at index `i` of `CELLS`: from 1, or null if it is the only one. */
export const numberAt = (entries: readonly CellEntry[], i: number) => (entries.length === 1 ? null : i + 1)

/**
 * Parses one cell by `parseConfig`. `number` is for faults; `count` is the number of cells, among
 * which the nodes' allowances are divided.
 */
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
    // `parseConfig` names the fault of a binding. The operator needs the member of `CELLS` that
    // names this binding.
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

/** The first `count` addresses of the key of a cell. */
function derivedOf({ extendedPublicKey }: Config, count: number): readonly [Address, ...Address[]] {
  const further = Array.from({ length: count - 1 }, (_, i) => deriveAddress(extendedPublicKey, i + 1))
  return [deriveAddress(extendedPublicKey, 0), ...further]
}

const payoutAddressesOf = (configs: readonly Config[]): readonly Address[] =>
  configs.flatMap(({ payouts }) => payouts?.address ?? [])

/**
 * Returns the faults of cells that are valid one by one but not together. Two cells must not have
 * the same key or payout address. `OPERATOR_ADDRESSES` must not name a payout address, because
 * payments from it to users of other cells are deposits. No payout address may be among the first
 * addresses of a cell's key.
 */
function findShared(list: readonly CellConfig[], firstAddresses: readonly (readonly Address[])[]): readonly string[] {
  const payoutAddresses = list[0]?.payoutAddresses ?? []
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
