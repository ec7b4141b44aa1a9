import { ledgerDefects } from './ledger-defects.ts'
import type { Defect } from './source-patch.ts'

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

const matched = 'await addresses.match(detected.addresses)'
const rememberedStrangers = `await (async () => {
  const memory = ((globalThis as any).strangers ??= new WeakMap()) // one set for each isolate
  if (!memory.has(currencies)) memory.set(currencies, new Set())
  const strangers = memory.get(currencies)
  const asked = detected.addresses.filter((address) => !strangers.has(address))
  const owners = await addresses.match(asked)
  for (const address of asked) if (!owners.has(address)) strangers.add(address)
  return owners
})()`

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
    from: 2,
  },
  'the credit key is the txid, without the position': {
    file: 'deposits/verify-deposit.ts',
    text: 'return { txid, position, block, cuy: currency.cuy',
    replacement: 'return { txid, position: 0, block, cuy: currency.cuy',
    from: 2,
  },
  'the status of receipts is ignored': {
    file: 'tron/parse/receipt.ts',
    text: "succeeded: status === '0x1'",
    replacement: 'succeeded: true',
    from: 4,
  },
  'a receipt that cannot be read is taken for that of a failed transaction': {
    file: 'deposits/gather-evidence.ts',
    text: agreedReceipts,
    replacement: failedReceipts,
    from: 23,
  },
  'one node is enough, whatever the quorum is': {
    file: 'compose.ts',
    text: '      quorum,\n',
    replacement: '      quorum: 1,\n',
    from: 4,
  },
  'the lease is ignored': {
    file: 'd1/scan-store.ts',
    text: ".where(or(eq(scans.lease, ''), lte(scans.lease_until, param('at'))))",
    replacement: '',
    from: 3,
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
    from: 1007,
  },
  'a deposit that cannot be decided now is taken for decided': {
    file: 'scan/prove-queue.ts',
    text: 'await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())',
    replacement: `await storeDecisions(parts, { ...decisions, pending: changed }, parts.clock.now())
    if (stopped === null) await parts.pending.remove(records)`,
    from: 36,
  },
  'a TRC-10 transfer is taken for TRX': {
    file: 'deposits/verify-deposit.ts',
    text: 'const proof = proveTransfer(bytes)',
    replacement:
      'const proof = { ok: true, value: { owner: candidate.from, to: candidate.to, amount: candidate.raw } }',
    from: 2,
  },
  'addresses without an owner are remembered as such': {
    file: 'deposits/detect-transfers.ts',
    text: matched,
    replacement: rememberedStrangers,
    from: 6,
  },
  'an isolate that knows all addresses reads no further ones': {
    file: 'd1/address-book.ts',
    text: 'if (!isComplete || page.count === 0) return toOwners(lookedUp)',
    replacement: 'if (page.count >= 0) return toOwners(lookedUp)',
    from: 3,
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
    from: 2,
  },
  'a pending deposit is never tried again': {
    file: 'scan/prove-queue.ts',
    text: '(now + proofRetryMs) as UnixMs',
    replacement: 'Number.MAX_SAFE_INTEGER as UnixMs',
    from: 5,
  },
  'a Byzantine node holds the finalized head back by some blocks': {
    file: 'tron/quorum/finalized-head.ts',
    text: 'const isClose = Math.max(...heights) - Math.min(...heights) <= headSpreadMax',
    replacement: 'const isClose = true',
    from: 900,
  },
  'the time of the newest scan goes back': {
    file: 'd1/scan-store.ts',
    text: 'tried_at: later(tried_at)',
    replacement: `tried_at: param('startedAt')`,
    from: 430,
  },
  'the health is ok while the scan is halted': {
    file: 'scan/health.ts',
    text: 'if (state.halted !== null) return',
    replacement: 'if (state.halted === null && state.halted !== null) return',
    from: 36,
  },
  'the balance of an address is shown to every caller': {
    file: 'addresses/read-balance.ts',
    text: 'own.filter((one) => one === address)',
    replacement: '[address]',
    from: 5,
  },
  'the first page of entries is left out': {
    file: 'd1/flow-query.ts',
    text: '(page.page - 1) * page.limit',
    replacement: 'page.page * page.limit',
    from: 15,
  },
  'expired tokens are accepted': {
    file: 'http/auth/verify-token.ts',
    text: 'currentDate: new Date(parts.clock.now())',
    replacement: 'currentDate: new Date(0)',
    from: 48,
  },
  'an unreadable block is passed without a gap': {
    file: 'scan/store-step.ts',
    text: 'unreadable: blocks.flatMap(({ height, logs }) => (logs === null ? [height] : [])),',
    replacement: 'unreadable: [],',
    from: 5,
  },
  'a gap is finished although its logs were not read': {
    file: 'scan/rescan.ts',
    text: 'const unreadable = read.value.flatMap(({ height, logs }) => (logs === null ? [height] : []))',
    replacement: 'const unreadable: BlockHeight[] = []',
    from: 5,
  },
  'a range that could not be read again is finished': {
    file: 'scan/rescan.ts',
    text: 'const retry = { id, next, nextTry:',
    replacement: 'const retry = { id, next: (to + 1) as BlockHeight, nextTry:',
    from: 5,
  },
  'the queue takes the oldest first, not in turns': {
    file: 'd1/pending-deposits.ts',
    text: 'ORDER BY turn, ',
    replacement: 'ORDER BY ',
    from: 917,
  },
  'the queue goes on while the scan is halted': {
    file: 'd1/pending-deposits.ts',
    text: ' WHERE NOT $',
    replacement: ' WHERE 2 <> $',
    from: 36,
  },
  'a scan proves what waits before it reads': {
    file: 'scan/scan.ts',
    text: 'const end = await catchUp(parts, attempt.state)',
    replacement: 'await proveQueue(parts, takesPerTick)\n    const end = await catchUp(parts, attempt.state)',
    from: 36,
  },
  'the position waits for the queue': {
    file: 'scan/scan.ts',
    text: 'const end = await catchUp(parts, attempt.state)',
    replacement: `const waiting = await proveQueue(parts, takesPerTick)
    const end = waiting === null ? await catchUp(parts, attempt.state) : err(waiting)`,
    from: 36,
  },
  'callers may ask nodes as often as they like': {
    file: 'platform/rate-limits.ts',
    text: 'return (await limiter.limit({ key })).success',
    replacement: 'return (await limiter.limit({ key })).success || true',
    from: 125,
  },
  'a candidate whose bytes are missing is refused': {
    file: 'deposits/verify-deposit.ts',
    text: "if (bytes === 'unavailable') return pending(owned, 'api-unavailable')",
    replacement: "if (bytes === 'unavailable') return refused(owned, { kind: 'failed' })",
    from: 35,
  },
  'what arrives in a retired currency is refused': {
    file: 'deposits/verify-deposit.ts',
    text: "return pending(owned, 'retired')",
    replacement: "return refused(owned, { kind: 'failed' })",
    from: 120,
  },
  'bytes are not compared with the txid': {
    file: 'tron/transaction-bytes.ts',
    text: 'txidOf(bytes) === txid ? ok(bytes)',
    replacement: 'bytes.length > 0 ? ok(bytes)',
    from: 100,
  },
  'the transactions of a block have the bytes at their places': {
    file: 'tron/transaction-bytes.ts',
    text: 'return ok(new Map(all.map((bytes) => [txidOf(bytes), bytes])))',
    replacement: `const named = (reply.ok ? reply.value : {}) as { transactions: { txID: Txid }[] }
    return ok(new Map(all.map((bytes, i) => [named.transactions[i]!.txID, bytes])))`,
    from: 1349,
  },
  'the configuration is not compared with what is stored': {
    file: 'config/check-settings.ts',
    text: 'isEqual = differences.length === 0',
    replacement: 'isEqual = true',
    from: 11,
  },
  'replies are matched by their order': {
    file: 'tron/transport/json-rpc.ts',
    text: 'if (reply !== null) replies.set(reply.id, reply.reply)',
    replacement: 'if (reply !== null) replies.set(firstId + replies.size, reply.reply)',
    from: 5,
  },
  'a node that once named another chain is never asked again': {
    file: 'tron/limits.ts',
    text: 'wrongChainMs = 60_000',
    replacement: 'wrongChainMs = 1e12',
    from: 1216,
  },
  'several blocks with too many logs of a token are a failure of the node': {
    file: 'tron/quorum/token-logs.ts',
    text: 'blocks.length > 1 && !givesOthers',
    replacement: 'blocks.length > 1',
    from: 1_262,
  },
  'a log index without a log of the block is taken for a complete one': {
    file: 'tron/quorum/confirm-blocks.ts',
    text: 'if (silent.length === 0) return ok(shown)',
    replacement: 'if (silent.length >= 0) return ok(shown)',
    from: 32_880,
  },
  'a node that rests is not asked, though too few are left without it': {
    file: 'tron/nodes/failover.ts',
    text: 'first ?? restingCandidate(selector, open)',
    replacement: 'first ?? (selector === null ? restingCandidate(selector, open) : null)',
    from: 1_320,
  },
  'a range that costs too much is asked for again as it is': {
    file: 'scan/scan.ts',
    text: 'isStuck ? carefulBlocksMax : readBlocksMax',
    replacement: 'isStuck ? readBlocksMax : readBlocksMax',
    from: 364,
  },
  'a key that was used is taken for a new one': {
    file: 'addresses/key-use.ts',
    text: 'if (firstIndex !== null || ',
    replacement: 'if (firstIndex !== 0.5 || ',
    from: 67,
  },
  ...ledgerDefects,
  'an answer of an endpoint counts as a delivery, whatever its status': {
    file: 'webhooks/deliver-event.ts',
    text: "return typeof answer === 'number' && answer >= 200 && answer <= 299",
    replacement: 'return answer !== null',
    from: 3,
  },
  'a sighting is removed before its block is final': {
    file: 'd1/sightings.ts',
    text: '} <= (SELECT ',
    replacement: '} - 30 <= (SELECT ',
    from: 4,
  },
}
