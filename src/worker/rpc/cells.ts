import { type ChosenBy, type Concerned, chooseCell, readUsers, usersOfList } from '../cells/choose.ts'
import { refuse } from './call.ts'
import type { CellOptions, LedgerMethods } from './ledger-methods.ts'

export interface CellMethods extends ChosenBy {
  readonly methods: LedgerMethods
}

/**
 * Makes one set of methods for all cells. A call goes to the cell of the users that it names, and is refused if its option `cell` is another one. A call without
 * users goes to the cell in this option.
 */
export function createCellsRpc(cells: readonly CellMethods[]): LedgerMethods {
  const [only, ...others] = cells
  if (only !== undefined && others.length === 0) return only.methods
  const inCell = async <T>(concerned: Concerned, call: (methods: LedgerMethods) => Promise<T>) => {
    const chosen = chooseCell(cells, concerned)
    if (chosen.ok) return call(chosen.value.methods)
    const { kind, why } = chosen.error
    return refuse(kind === 'bad-input' ? { kind, member: 'cell', why } : { kind, reason: 'other-cell', why })
  }
  const ofUser = (uid: unknown, options?: CellOptions): Concerned => ({ uids: readUsers([uid]), cell: options?.cell })
  const ofList = (list: unknown, options?: CellOptions): Concerned => ({ uids: usersOfList(list), cell: options?.cell })
  const ofNobody = (options?: CellOptions): Concerned => ({ uids: [], cell: options?.cell })
  return {
    post: (entries, by, options) => inCell(ofList(entries, options), (methods) => methods.post(entries, by, options)),
    askPayouts: (payouts, by, options) =>
      inCell(ofList(payouts, options), (methods) => methods.askPayouts(payouts, by, options)),
    wallets: (uid, options) => inCell(ofUser(uid, options), (methods) => methods.wallets(uid, options)),
    address: (uid, options) => inCell(ofUser(uid, options), (methods) => methods.address(uid, options)),
    entries: (query) => {
      const { cell, ...others } = query ?? {}
      return inCell(ofUser(others.uid, query), (methods) => methods.entries(others))
    },
    payouts: (query) => {
      const { cell, ...others } = query ?? {}
      const concerned = others.uid === undefined ? ofNobody(query) : ofUser(others.uid, query)
      return inCell(concerned, (methods) => methods.payouts(others))
    },
    events: (after, limit, options) => inCell(ofNobody(options), (methods) => methods.events(after, limit, options)),
    decideDeposits: (deposits, by, options) =>
      inCell(ofNobody(options), (methods) => methods.decideDeposits(deposits, by, options)),
    approvePayouts: (ids, by, options) =>
      inCell(ofNobody(options), (methods) => methods.approvePayouts(ids, by, options)),
    cancelPayouts: (ids, why, by, options) =>
      inCell(ofNobody(options), (methods) => methods.cancelPayouts(ids, why, by, options)),
  }
}
