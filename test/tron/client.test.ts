import { expect, it } from 'vitest'
import { changing, type Fault } from '../support/scripted-node.ts'
import { at, createHarness, secrets, transactionRef } from './harness.ts'
import { hiddenLogsAndReceipts, hiddenTransaction } from './quorum/byzantine-replies.ts'

it('no log line and no failure contains a URL or a key', async () => {
  const h = createHarness({ nodes: 3 })
  const { firstHeight } = h.chain
  const failures: unknown[] = []
  const secretUrl = `https://node-1.test/${secrets.path}?key=${secrets.key}`
  const faults: readonly (Fault | null)[] = [
    { kind: 'broken-connection' },
    { kind: 'body', body: `<html>${secretUrl}` },
    { kind: 'status', status: 500, body: secretUrl },
    changing('web3_clientVersion', () => secretUrl),
    { kind: 'changed-calls', change: () => ({ error: { code: -32000, message: secretUrl } }) },
    changing('eth_chainId', () => secretUrl),
    hiddenLogsAndReceipts,
    hiddenTransaction,
    null,
  ]
  for (const fault of faults) {
    for (const i of [0, 1]) h.fail(i, fault)
    for (const answer of [
      await h.settle(h.pool().finalizedBlocks(at(firstHeight), at(firstHeight + 2))),
      await h.settle(h.pool().finalizedHead()),
      await h.settle(h.pool().transactionBytes(transactionRef(h.chain, firstHeight, 0).txid)),
    ]) {
      if (!answer.ok) failures.push(answer.error)
    }
    h.advance(7_200_000)
  }
  const written = JSON.stringify([h.lines, failures])
  expect(h.lines.length).toBeGreaterThan(10)
  expect(failures.length).toBeGreaterThan(0)
  for (const secret of [secrets.path, secrets.key, 'https:', 'node-1.test']) expect(written).not.toContain(secret)
})
