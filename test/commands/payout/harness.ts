import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgreedNodes } from '../../../src/commands/nodes.ts'
import { createJournal, openJournal } from '../../../src/commands/payout/journal.ts'
import { parseLimits } from '../../../src/commands/payout/limits.ts'
import { keepSigning } from '../../../src/commands/payout/run.ts'
import { openService } from '../../../src/commands/payout/service.ts'
import type { Signer } from '../../../src/commands/payout/signer.ts'
import { keyAt, payoutPath } from '../../../src/commands/signing/account-key.ts'
import { parseMnemonic } from '../../../src/commands/signing/mnemonic.ts'
import { formatBase58 } from '../../../src/worker/chain/address.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { assetsSchema } from '../../../src/worker/config/chain.ts'
import { parseBindings } from '../../../src/worker/config/schemas.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { testMnemonic, unwrap } from '../collect/harness.ts'
import { type ScriptedService, startPayoutService } from './scripted-service.ts'

/** The key with which the signer of these tests signs. */
export const payoutKey = keyAt(unwrap(parseMnemonic(testMnemonic)), payoutPath)
/** The address of `payoutKey` in Base58Check. */
export const payoutAddress = formatBase58(payoutKey.address)
export const chainId = '0x6465766e'

/** TRX, and a token with two decimals more than the ledger keeps. */
export const assets = unwrap(
  parseBindings(assetsSchema, {
    TRON_CHAIN_ID: chainId,
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 8, scale: 6 },
    ],
  }),
)

/**
 * A signer and a scripted service. Their clock is virtual and moves only when one of them waits.
 */
export interface TestSigner {
  readonly service: ScriptedService
  readonly script: ScriptedService['script']
  readonly path: string
  readonly clock: { ms: number }
  /** What the signer has printed. */
  readonly lines: string[]
  signer: Signer
  /**
   * Closes the journal and opens it as a new process would. `path` names another journal; `isNew`
   * creates it.
   */
  restart(changes?: Partial<Signer> & { readonly path?: string; readonly isNew?: boolean }): void
  /** Lets the signer run for `count` rounds. */
  rounds(count: number): Promise<void>
  stop(): Promise<void>
}

/**
 * Nodes that find no transaction in a block, except those in `mined` (true: it succeeded). Their
 * newest final block has the time of the clock.
 */
export const quietNodes = (clock: { readonly ms: number }, mined: ReadonlyMap<string, boolean> = new Map()) =>
  ({
    clock: { now: () => clock.ms },
    read: async () => ({ header: { height: 1_000, timestamp: clock.ms } }),
    agree: async (_path: string, { value }: { value: string }, { parse }: { parse: (reply: unknown) => unknown }) => {
      const isSuccess = mined.get(value)
      if (isSuccess === undefined) return parse({})
      return parse({ id: value, blockNumber: 900, ...(isSuccess ? {} : { result: 'FAILED' }) })
    },
  }) as unknown as AgreedNodes // safe: these are all members that a signer uses

/** Starts a service, and a signer with a new journal. */
export async function startSigner(
  limits = [
    { cuy: 1, each: '100', perDay: '1000' },
    { cuy: 2, each: '100', perDay: '1000' },
  ],
  nodesOf: (clock: { ms: number }) => AgreedNodes = quietNodes,
): Promise<TestSigner> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-'))
  const clock = { ms: Date.parse('2026-11-25T12:00:00.000Z') }
  const now = () => clock.ms as UnixMs
  const service = await startPayoutService(payoutAddress, now)
  const owner = { chainId, address: payoutAddress }
  const open = (path: string): Signer => ({
    settings: { chainId, currencies: assets.currencies, address: payoutKey.address, feeLimit: 100_000_000n },
    limits: parseLimits(JSON.stringify(limits), assets.currencies),
    backendKeys: null,
    minutes: 15,
    key: payoutKey,
    journal: openJournal(path, owner),
    clock: { now },
    own: null,
    proven: new Map(),
    again: new Set(),
  })
  const first = join(folder, 'journal')
  createJournal(first, owner, now())
  clock.ms += 1_000
  const lines: string[] = []
  const test: TestSigner = {
    service,
    script: service.script,
    path: first,
    clock,
    lines,
    signer: open(first),
    restart({ path: name, isNew = false, ...changes } = {}) {
      test.signer.journal.close()
      const path = name === undefined ? first : join(folder, name)
      if (isNew) createJournal(path, owner, now())
      test.signer = { ...open(path), ...changes }
    },
    async rounds(count) {
      const abort = new AbortController()
      let left = count
      const sleep = async (ms: number) => {
        // so long a sleep is the time limit of a request: it never ends, so no request times out
        if (ms > 2_000) return new Promise<void>(() => {})
        clock.ms += ms
        left -= 1
        // 5 ms of real time, in which requests to the service can go on
        await new Promise((resolve) => setTimeout(resolve, 5))
        if (left === 0) abort.abort()
      }
      await keepSigning(
        {
          signer: test.signer,
          service: openService(service.url, async () => 'token', fetch),
          nodes: nodesOf(clock),
          clock: { now, random: () => 0.5, sleep },
          print: (line) => void lines.push(line),
        },
        abort.signal,
      )
    },
    async stop() {
      test.signer.journal.close()
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return test
}
