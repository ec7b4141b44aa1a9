import type { Address } from '../../src/addresses/address.ts'
import type { BlockHeight, Receipt, Txid } from '../../src/chain/block.ts'
import { ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import type { ScanState } from '../../src/ledger/ledger-store.ts'
import { createChain } from '../support/chain-builder.ts'
import type { Defect } from './service.ts'

/**
 * Deliberate mistakes, each of a kind that is easily made and hard to see. The simulation has to find every one:
 * one that finds none proves nothing.
 */
export const defects: Readonly<Record<string, () => Defect>> = {
  'the position is moved before the deposits are stored': () => ({
    writer: (writer) => ({
      ...writer,
      async append(step) {
        const moved = await writer.append({ ...step, deposits: [] })
        if (moved === 'appended') await writer.credit(step.deposits, step.at)
        return moved
      },
    }),
  }),

  'the credit key is the txid, without the position': () => ({
    writer: (writer) => ({
      ...writer,
      append: (step) => writer.append({ ...step, deposits: step.deposits.map((one) => ({ ...one, position: 0 })) }),
    }),
  }),

  'the status of receipts is ignored': () => ({
    chain: (chain) => ({
      ...chain,
      async receipts(asked) {
        const answer = await chain.receipts(asked)
        if (!answer.ok) return answer
        return ok(new Map([...answer.value].map(([txid, receipt]) => [txid, { ...receipt, succeeded: true }])))
      },
    }),
  }),

  'no receipt is taken for a failed transaction': () => ({
    chain: (chain) => ({
      ...chain,
      async receipts(asked) {
        const answer = await chain.receipts(asked)
        if (answer.ok) return answer
        const failed = asked.map(({ txid, block }): [Txid, Receipt] => [
          txid,
          { txid, block, succeeded: false, logs: [] },
        ])
        return ok(new Map(failed))
      },
    }),
  }),

  'one node is believed, whatever the quorum': () => ({
    pool: (parts) => ({ ...parts, quorum: 1 }),
  }),

  'the lease is ignored': () => ({
    writer: (writer, db) => ({
      ...writer,
      async acquireLease(lease, at, until) {
        const claimed = await writer.acquireLease(lease, at, until)
        if (claimed.kind !== 'held') return claimed
        await db.prepare('UPDATE scan SET lease = ?1, lease_until = ?2').bind(lease, until).run()
        return { ...claimed, kind: 'claimed' }
      },
    }),
  }),

  'the latest block is taken for the finalized one': () => ({
    fetch: (fetch) => (url, init) =>
      fetch(url, { ...init, body: String(init.body).replaceAll('"finalized"', '"latest"') }),
  }),

  'the nodes’ logs are not compared': () => ({
    pool: (parts) => ({ ...parts, tokens: new Set() }),
  }),

  'what can’t be decided is dropped': () => ({
    writer: (writer) => ({ ...writer, append: (step) => writer.append({ ...step, pending: [] }) }),
  }),

  'a TRC-10 transfer is taken for TRX': () => ({
    chain: (chain, world) => ({
      ...chain,
      transactionBytes: async (txid) => {
        const answer = await chain.transactionBytes(txid)
        const shown = world.chain.transaction(txid)?.wire
        if (!answer.ok || answer.value === null || shown === undefined) return answer
        const plain = { from: addressIn(shown.from), to: addressIn(shown.to), amount: BigInt(String(shown.value)) }
        return ok(createChain().add([{ kind: 'trx', ...plain }]).transactions[0]?.rawData ?? answer.value)
      },
    }),
  }),

  'which addresses are nobody’s is remembered': () => {
    const strangers = new Set<Address>()
    return {
      addresses: (book) => ({
        ...book,
        async match(asked) {
          const fresh = asked.filter((address) => !strangers.has(address))
          const owners = await book.match(fresh)
          for (const address of fresh) if (!owners.has(address)) strangers.add(address)
          return owners
        },
      }),
    }
  },

  'an address is shown before the scan’s start is stored': () => ({
    starting: (reader) => ({ ...reader, scanState: async () => (await reader.scanState()) ?? startedAlready }),
  }),

  'a batch of statements is not atomic': () => ({
    database: (db) =>
      ({
        prepare: (sql: string) => db.prepare(sql),
        async batch(statements: readonly D1PreparedStatement[]) {
          const results: D1Result[] = []
          for (const statement of statements) results.push(await statement.run())
          return results
        },
      }) as D1Database, // all that the service uses
  }),

  'what waits is never tried again': () => ({
    writer: (writer) => ({ ...writer, takeDue: () => Promise.resolve([]) }),
  }),
}

const addressIn = (wire: unknown) => String(wire).slice(2) as Address // the builder's

const startedAlready: ScanState = {
  position: { height: 0 as BlockHeight, hash: null }, // any height
  finalized: 0 as BlockHeight, // any height
  finalizedAt: 0 as UnixMs, // any time
  advancedAt: 0 as UnixMs, // any time
  caughtUpAt: 0 as UnixMs, // any time
  triedAt: 0 as UnixMs, // any time
  problem: null,
  unconfirmedReadAt: 0 as UnixMs, // any time
  leaseUntil: 0 as UnixMs, // any time
  halted: null,
}
