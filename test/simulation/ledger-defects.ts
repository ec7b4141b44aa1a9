import type { Defect } from './source-patch.ts'

const shortfallFirst = `if (!stored) {
    try {
      return err(findShortfall(balances, entries, currencies))
    } catch {}
  }`

/** Those of reconciliation and of the posts of backends. */
export const ledgerDefects: Readonly<Record<string, Defect>> = {
  'one balance that differs is enough for an alarm': {
    file: 'reconciliation/judge-reading.ts',
    text: 'readingsNeeded = 3',
    replacement: 'readingsNeeded = 1',
    from: 66,
  },
  'the fees of outgoing transactions count as a loss': {
    file: 'reconciliation/judge-reading.ts',
    text: 'feeMaxSun = 200_000_000n',
    replacement: 'feeMaxSun = 0n',
    from: 441,
  },
  'a confirmed difference is measured again': {
    file: 'reconciliation/judge-reading.ts',
    text: 'confirmed: accepted.confirmed + suspected.amount',
    replacement: 'confirmed: suspected.amount',
    from: 317,
  },
  'an address that moved waits for the next run over all addresses': {
    file: 'reconciliation/reconcile-slice.ts',
    text: 'moved.slice(0, room - Math.min(runAddressesMin, next.length))',
    replacement: 'moved.slice(0, 0)',
    from: 22,
  },
  'a change that a balance may lack counts as compared': {
    file: 'd1/reconciliation-store.ts',
    text: 'cuy: run.cuy, fromHeight }',
    replacement: 'cuy: run.cuy, fromHeight: Number.MAX_SAFE_INTEGER }',
    from: 48,
  },
  'the lease of reconciliation is ignored': {
    file: 'd1/reconciliation-lease.ts',
    text: "param('at')",
    replacement: "param('until')",
    from: 48,
  },
  'a post that is sent again is a conflict': {
    file: 'ledger/post-entries.ts',
    text: 'if (one.amount !== entry.amount || one.mark !== entry.mark) {',
    replacement: 'if (!stored || one.amount !== entry.amount || one.mark !== entry.mark) {',
    from: 1,
  },
  'a known entry is the same with any amount': {
    file: 'ledger/post-entries.ts',
    text: 'one.amount !== entry.amount || one.mark !== entry.mark',
    replacement: 'one.mark !== entry.mark',
    from: 1,
  },
  'what a wallet holds is looked at before the keys of a post': {
    file: 'ledger/post-entries.ts',
    text: 'if (known.length === 0) return err(findShortfall(balances, entries, currencies))',
    replacement: shortfallFirst,
    from: 1,
  },
  'only the first entry of a post is stored': {
    file: 'd1/entry-store.ts',
    text: 'const list = JSON.stringify(entries.map(writeNewEntry))',
    replacement: 'const list = JSON.stringify(entries.slice(0, 1).map(writeNewEntry))',
    from: 1,
  },
}
