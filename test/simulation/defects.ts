import type { SourcePatch } from './source-patch.ts'

/** A deliberate mistake in the source, and a seed from which on the simulation finds it soon. */
export interface Defect extends SourcePatch {
  readonly from: number
}

const atomicBatch = `db.batch<T>(statements.map(({ inner }) => inner))`
const sequence = `(async () => {
  const results: D1Result<T>[] = []
  for (const { inner } of statements) results.push(await inner.run<T>())
  return results
})()`

const agreedReceipts = 'const together = await chain.receipts(wanted)'
const failedReceipts = `const replies = await chain.receipts(wanted)
  const failed = wanted.map(({ txid, block }) => [txid, { txid, block, succeeded: false, logs: [] }])
  const together = replies.ok ? replies : ok(new Map(failed))`

const matched = 'await addresses.match([...detected.addresses])'
const rememberedStrangers = `await (async () => {
  const memory = ((globalThis as any).strangers ??= new WeakMap()) // one set for each isolate
  if (!memory.has(currencies)) memory.set(currencies, new Set())
  const strangers = memory.get(currencies)
  const asked = [...detected.addresses].filter((address) => !strangers.has(address))
  const owners = await addresses.match(asked)
  for (const address of asked) if (!owners.has(address)) strangers.add(address)
  return owners
})()`

const shortfallFirst = `if (!stored) {
    try {
      return err(findShortfall(balances, entries, currencies))
    } catch {}
  }`

/**
 * Deliberate mistakes, each of a kind that is easily made and hard to see. The simulation must find every one of them: a
 * simulation that finds none proves nothing.
 */
export const defects: Readonly<Record<string, Defect>> = {
  'the position is moved before the candidates are stored': {
    file: 'd1/scan-store.ts',
    text: 'await db.batch(statements)',
    replacement: `await db.batch(statements.slice(0, 2))
    if (statements.length > 2) await db.batch(statements.slice(2))`,
    from: 1,
  },
  'the credit key is the txid, without the position': {
    file: 'deposits/verify-deposit.ts',
    text: 'return { txid, position, block, cuy: currency.cuy',
    replacement: 'return { txid, position: 0, block, cuy: currency.cuy',
    from: 1,
  },
  'the status of receipts is ignored': {
    file: 'tron/parse/receipt.ts',
    text: "succeeded: status === '0x1'",
    replacement: 'succeeded: true',
    from: 1,
  },
  'a receipt that cannot be read is taken for that of a failed transaction': {
    file: 'deposits/gather-evidence.ts',
    text: agreedReceipts,
    replacement: failedReceipts,
    from: 10,
  },
  'one node is enough, whatever the quorum is': {
    file: 'compose.ts',
    text: '      quorum,\n',
    replacement: '      quorum: 1,\n',
    from: 1,
  },
  'the lease is ignored': {
    file: 'd1/scan-store.ts',
    text: ".where(or(eq(scans.lease, ''), lte(scans.lease_until, param('at'))))",
    replacement: '',
    from: 1,
  },
  'the latest block is taken for the finalized one': {
    file: 'tron/transport/batch.ts',
    text: "[chainIdCall, blockCall('finalized', false)]",
    replacement: "[chainIdCall, blockCall('latest', false)]",
    from: 1,
  },
  'the logs of the nodes are not compared': {
    file: 'tron/quorum/confirm-blocks.ts',
    text: 'if (filtered.length === 0) return ok(null)',
    replacement: 'return ok(null)',
    from: 450,
  },
  'a deposit that cannot be decided now is taken for decided': {
    file: 'scan/prove-queue.ts',
    text: 'await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())',
    replacement: `await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())
    if (stopped === null) await parts.pending.remove(records)`,
    from: 1,
  },
  'a TRC-10 transfer is taken for TRX': {
    file: 'deposits/verify-deposit.ts',
    text: 'const proof = proveTransfer(bytes)',
    replacement:
      'const proof = { ok: true, value: { owner: candidate.from, to: candidate.to, amount: candidate.raw } }',
    from: 1,
  },
  'addresses without an owner are remembered as such': {
    file: 'deposits/detect-transfers.ts',
    text: matched,
    replacement: rememberedStrangers,
    from: 1,
  },
  'an address is shown before the start of the scan is stored': {
    file: 'addresses/issue-address.ts',
    text: 'const started = await ensureScanStarted(parts)',
    replacement: 'const started = ok(null)',
    from: 1,
  },
  'a batch of statements is not atomic': {
    file: 'd1/metered-database.ts',
    text: atomicBatch,
    replacement: sequence,
    from: 1,
  },
  'a pending deposit is never tried again': {
    file: 'scan/prove-queue.ts',
    text: 'const nextTry = (now + proofRetryMs) as UnixMs',
    replacement: 'const nextTry = Number.MAX_SAFE_INTEGER as UnixMs',
    from: 1,
  },
  'a Byzantine node holds the finalized head back by some blocks': {
    file: 'tron/quorum/finalized-head.ts',
    text: 'const isClose = Math.max(...heights) - Math.min(...heights) <= headSpreadMax',
    replacement: 'const isClose = true',
    from: 420,
  },
  'the time of the newest scan goes back': {
    file: 'd1/scan-store.ts',
    text: 'tried_at: later(scans.tried_at)',
    replacement: 'tried_at: startedAt',
    from: 325,
  },
  'a scan that began earlier and ended later hides that another one was caught up': {
    file: 'd1/scan-store.ts',
    text: 'caught_up_at: later(scans.caught_up_at)',
    replacement: 'caught_up_at: startedAt',
    from: 365,
  },
  'the health is ok while the scan is halted': {
    file: 'scan/health.ts',
    text: 'if (state.halted !== null) return',
    replacement: 'if (state.halted === null && state.halted !== null) return',
    from: 1,
  },
  'the balance of an address is shown to every caller': {
    file: 'addresses/read-balance.ts',
    text: 'own.filter((one) => one === address)',
    replacement: '[address]',
    from: 1,
  },
  'the first page of entries is left out': {
    file: 'd1/flow-query.ts',
    text: '(page.page - 1) * page.limit',
    replacement: 'page.page * page.limit',
    from: 10,
  },
  'expired tokens are accepted': {
    file: 'http/auth/verify-token.ts',
    text: 'currentDate: new Date(parts.clock.now())',
    replacement: 'currentDate: new Date(0)',
    from: 25,
  },
  'one balance that differs is enough for an alarm': {
    file: 'reconciliation/judge-reading.ts',
    text: 'readingsNeeded = 3',
    replacement: 'readingsNeeded = 1',
    from: 60,
  },
  'the fees of outgoing transactions count as a loss': {
    file: 'reconciliation/judge-reading.ts',
    text: 'feeMaxSun = 200_000_000n',
    replacement: 'feeMaxSun = 0n',
    from: 100,
  },
  'a confirmed difference is measured again': {
    file: 'reconciliation/judge-reading.ts',
    text: 'confirmed: accepted.confirmed + suspected.amount',
    replacement: 'confirmed: suspected.amount',
    from: 230,
  },
  'an address that moved waits for the next run over all addresses': {
    file: 'reconciliation/reconcile-slice.ts',
    text: 'moved.slice(0, room - Math.min(runAddressesMin, next.length))',
    replacement: 'moved.slice(0, 0)',
    from: 10,
  },
  'a change that a balance may lack counts as compared': {
    file: 'd1/reconciliation-store.ts',
    text: 'cuy: run.cuy, fromHeight }',
    replacement: 'cuy: run.cuy, fromHeight: Number.MAX_SAFE_INTEGER }',
    from: 10,
  },
  'the lease of reconciliation is ignored': {
    file: 'd1/reconciliation-lease.ts',
    text: "param('at')",
    replacement: "param('until')",
    from: 10,
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
  'an answer of an endpoint counts as a delivery, whatever its status': {
    file: 'webhooks/deliver-event.ts',
    text: "return typeof answer === 'number' && answer >= 200 && answer <= 299",
    replacement: 'return answer !== null',
    from: 1,
  },
  'a transfer that was seen is forgotten before its block is final': {
    file: 'd1/sightings.ts',
    text: '} <= (SELECT ',
    replacement: '} - 30 <= (SELECT ',
    from: 1,
  },
}
