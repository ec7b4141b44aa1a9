import { type ChosenBy, type Concerned, chooseCell, readUsers, usersOfList } from '../cells/choose.ts'
import { refuse } from './call.ts'
import type { LedgerMethods } from './ledger-methods.ts'

export interface CellMethods extends ChosenBy {
  readonly methods: LedgerMethods
}

/** Makes one set of methods for all cells. A call goes to the cell of the users that it names. A call without users goes to the cell in its option `cell`. */
export function createCellsRpc(cells: readonly CellMethods[]): LedgerMethods {
  const [only, ...others] = cells
  if (only !== undefined && others.length === 0) return only.methods
  const inCell = async <T>(concerned: Concerned, call: (methods: LedgerMethods) => Promise<T>) => {
    const chosen = chooseCell(cells, concerned)
    if (chosen.ok) return call(chosen.value.methods)
    const { kind, why } = chosen.error
    return refuse(kind === 'bad-input' ? { kind, member: 'cell', why } : { kind, reason: 'other-cell', why })
  }
  const ofUser = (uid: unknown, cell?: unknown): Concerned => ({ uids: readUsers([uid]), cell })
  const ofList = (list: unknown): Concerned => ({ uids: usersOfList(list), cell: undefined })
  return {
    post: (entries, by) => inCell(ofList(entries), (methods) => methods.post(entries, by)),
    askPayouts: (payouts, by) => inCell(ofList(payouts), (methods) => methods.askPayouts(payouts, by)),
    wallets: (uid, options) => inCell(ofUser(uid, options?.cell), (methods) => methods.wallets(uid)),
    address: (uid, options) => inCell(ofUser(uid), (methods) => methods.address(uid, options)),
    entries: (query) => {
      const { cell, ...others } = query ?? {}
      return inCell(ofUser(others.uid, cell), (methods) => methods.entries(others))
    },
    payouts: (query) => {
      const { cell, ...others } = query ?? {}
      const uids = others.uid === undefined ? [] : readUsers([others.uid])
      return inCell({ uids, cell }, (methods) => methods.payouts(others))
    },
    events: (after, limit, options) =>
      inCell({ uids: [], cell: options?.cell }, (methods) => methods.events(after, limit)),
    decideDeposits: (deposits, by, options) =>
      inCell({ uids: [], cell: options?.cell }, (methods) => methods.decideDeposits(deposits, by)),
    approvePayouts: (ids, by, options) =>
      inCell({ uids: [], cell: options?.cell }, (methods) => methods.approvePayouts(ids, by, options)),
    cancelPayouts: (ids, why, by, options) =>
      inCell({ uids: [], cell: options?.cell }, (methods) => methods.cancelPayouts(ids, why, by, options)),
  }
}
