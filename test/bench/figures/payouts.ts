import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hexToBytes } from '@noble/hashes/utils.js'
import { createJournal, openJournal } from '../../../src/commands/payout/journal.ts'
import { parseLimits } from '../../../src/commands/payout/limits.ts'
import { keepSigning } from '../../../src/commands/payout/run.ts'
import { openService } from '../../../src/commands/payout/service.ts'
import { formatBase58 } from '../../../src/worker/chain/address.ts'
import { bytesOf, readFields } from '../../../src/worker/chain/contract.ts'
import { txidOf } from '../../../src/worker/chain/transaction.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { assetsSchema } from '../../../src/worker/config/chain.ts'
import { parseBindings } from '../../../src/worker/config/schemas.ts'
import { quietNodes } from '../../commands/payout/harness.ts'
import { trackOperation } from '../../simulation/event-loop.ts'
import type { ChainTransaction } from '../../support/block-json.ts'
import { toTransaction } from '../../support/chain-builder.ts'
import { payoutAddress, payoutBase58, signatureOf } from '../../support/payouts.ts'
import { signHs256 } from '../../support/tokens.ts'
import { addressOf, transferLog, usdtAddress } from '../../support/transaction-spec.ts'
import { backendSecret } from '../../support/variables.ts'
import { atLeast, atMost, type Figure, figure, type Scale } from '../figure.ts'
import { createBlocks, finalityBlocks, firstHeight, slotMs } from '../mainnet.ts'
import { serviceVariables } from '../variables.ts'
import { startVirtual, type VirtualOptions, type VirtualService } from '../virtual.ts'
import { quantile, smallBlock, startMs } from './delays.ts'

const minuteMs = 60_000
/** Who is paid, and how much: 5 USDT each. */
const [recipient, units] = [addressOf(60), 5_000_000n]
const limits = [{ cuy: 2, each: '5', perDay: '1000000' }]

/**
 * How soon payouts are sent and paid, how many a minute one signer sends, and how many requests
 * each costs, with mainnet's timing.
 */
export async function measurePayouts({ work }: Scale): Promise<readonly Figure[]> {
  const minutes = Math.max(10, 60 * work)
  const idle = await startPayouts()
  await idle.service.run(minutes * minuteMs)
  const before = idle.service.requests()
  const steady = await startPayouts()
  let asked = 0
  for (const end = steady.service.now() + (minutes - 4) * minuteMs; steady.service.now() < end; asked += 1) {
    steady.ask(1)
    await steady.service.run(17_300)
  }
  await steady.service.run(minutes * minuteMs - (steady.service.now() - steady.startedAt))
  const { sent, paid } = steady.delays()
  const requests = (steady.service.requests() - before) / asked
  const burst = await startPayouts()
  const count = 400
  for (let i = 0; i < count / 20; i += 1) burst.ask(20)
  await burst.service.run(5 * minuteMs)
  const last = quantile(burst.delays().sent, 1)
  const perMinute = burst.delays().sent.length < count ? 0 : (count * minuteMs) / last
  for (const one of [idle, steady, burst]) one.stop()
  const of = (times: readonly number[]) => (times.length < asked ? Number.POSITIVE_INFINITY : quantile(times, 1) / 1000)
  return [
    figure('a payout: from the asking to its sending, with a running signer, all', of(sent), 's', atMost(5, of(sent))),
    figure('a payout: from finality to paid, all', of(paid), 's', atMost(6, of(paid))),
    figure('payouts a minute through one signer', perMinute, 'payouts', atLeast(200, perMinute)),
    figure('requests to nodes for a payout', requests, 'requests', atMost(4.5, requests)),
  ]
}

/** A transaction that a node has got. */
export interface Arrival {
  readonly node: number
  readonly at: number
  /** Whether the node passes it on. */
  readonly isPassedOn: boolean
}

/**
 * Starts a service whose user 1 has money, and a signer. Each transaction that a node passes on is
 * in the next block.
 */
export async function startPayouts(options: Pick<VirtualOptions, 'nodes'> = {}) {
  const mined = new Map<number, ChainTransaction[]>()
  const sentAt = new Map<string, number>()
  /** Whether each transaction that is in a block succeeded, by txid. */
  const results = new Map<string, boolean>()
  const mining: { isFailing: boolean } = { isFailing: false }
  const arrivals = new Map<string, Arrival[]>()
  let service: VirtualService | null = null
  const now = () => service?.now() ?? startMs
  const blocks = createBlocks({
    startMs,
    transactionsAt: () => smallBlock,
    depositsAt: () => [],
    minedAt: (height) => mined.get(height) ?? [],
  })
  const chain = {
    ...blocks,
    balanceOf: (_: unknown, address: string) => (address === payoutAddress ? 10n ** 15n : 0n),
    broadcast(hex: string, node: number, isPassedOn: boolean) {
      const rawData = bytesOf(readFields(hexToBytes(hex), { 1: 'bytes', 2: 'bytes' }), 1)
      const txid = txidOf(rawData)
      arrivals.set(txid, [...(arrivals.get(txid) ?? []), { node, at: now(), isPassedOn }])
      if (sentAt.has(txid) || !isPassedOn) return
      sentAt.set(txid, now())
      const height = firstHeight + Math.floor((now() - startMs) / slotMs) + 1
      const { isFailing } = mining
      const logs = isFailing ? [] : [transferLog(usdtAddress, payoutAddress, recipient, units)]
      const spec = { kind: 'signed', rawData, logs, failed: isFailing } as const
      mined.set(height, [...(mined.get(height) ?? []), toTransaction(spec, rawData)])
      results.set(txid, !isFailing)
    },
  }
  const PAYOUTS = { address: payoutBase58, limits }
  const running = await startVirtual(chain, { ...options, variables: { PAYOUTS } })
  service = running
  await running.addressOf(1)
  const stop = await startSigner(running, results)
  await running.run(2 * minuteMs)
  void running.ledger.post([{ uid: 1, cuy: 2, type: 9, osn: 'money', amt: '1000000' }], 'bench')
  await running.run(1_000)
  let orders = 0
  const startedAt = running.now()
  return {
    service: running,
    startedAt,
    stop,
    /** What nodes have got, by the txid of the transaction, in order. */
    arrivals,
    /** Whether transactions that nodes get from now on fail in their blocks. */
    mining,
    ask(count: number) {
      const list = Array.from({ length: count }, () => {
        orders += 1
        return { uid: 1, cuy: 2, amt: '5', to: formatBase58(recipient), osn: `payout-${orders}` }
      })
      void running.ledger.askPayouts(list, 'bench')
    },
    delays: () => delaysOf(running, sentAt, blocks.timeOf),
  }
}

/**
 * Milliseconds from the request to the sending of each payout that was sent, and from finality to
 * `paid` of each that is paid.
 */
function delaysOf({ sqlite }: VirtualService, sentAt: ReadonlyMap<string, number>, timeOf: (height: number) => number) {
  const rows = sqlite.prepare('SELECT * FROM payout ORDER BY id').all() as unknown as Row[]
  return {
    sent: rows
      .flatMap(({ txid, created_at }) => (sentAt.get(txid ?? '') ?? Number.NaN) - created_at)
      .filter(Number.isFinite),
    paid: rows.flatMap(({ state, changed_at, height }) =>
      state === 'paid' ? [changed_at - timeOf((height ?? 0) + finalityBlocks)] : [],
    ),
  }
}

interface Row {
  readonly state: string
  readonly txid: string | null
  readonly height: number | null
  readonly created_at: number
  readonly changed_at: number
}

/**
 * Starts a signer beside the service. Its nodes know these results of transactions. The returned
 * function ends it.
 */
async function startSigner(service: VirtualService, results: ReadonlyMap<string, boolean>): Promise<() => void> {
  const assets = parseBindings(assetsSchema, serviceVariables([]))
  if (!assets.ok) throw new Error(assets.error.join())
  const { chainId, currencies } = assets.value
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const owner = { chainId, address: payoutBase58 }
  createJournal(join(folder, 'journal'), owner, (service.now() - 1) as UnixMs)
  const claims = { sub: 'signer', scope: 'ledger:sign ledger:read' }
  const abort = new AbortController()
  const fetch = async (url: string, init: RequestInit = {}) => {
    const token = signHs256({ ...claims, exp: Math.floor(service.now() / 1000) + 600 }, backendSecret)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await trackOperation(token)}` }
    const { method = 'GET', body = null } = init
    const response = await service.fetch(new Request(url, { method, headers, body }))
    const text = await trackOperation(response.text())
    const chunks = (async function* () {
      yield new TextEncoder().encode(text)
    })()
    // the parts of a response that a signer reads
    return { status: response.status, headers: response.headers, body: chunks }
  }
  const signer = {
    settings: { chainId, currencies, address: payoutAddress, feeLimit: 100_000_000n },
    limits: parseLimits(JSON.stringify(limits), currencies),
    backendKeys: null,
    minutes: 15,
    key: { address: payoutAddress, sign: (rawData: Uint8Array) => signatureOf(rawData) },
    journal: openJournal(join(folder, 'journal'), owner),
    clock: service.clock,
    own: null,
    proven: new Map(),
    again: new Set<string>(),
  }
  const answers = openService('https://wallet.test', async () => 'token', fetch as unknown as typeof globalThis.fetch)
  const clock = {
    get ms() {
      return service.now()
    },
  }
  const nodes = quietNodes(clock, results)
  void keepSigning({ signer, service: answers, nodes, clock: service.clock, print: () => undefined }, abort.signal)
  return () => {
    abort.abort()
    rmSync(folder, { recursive: true, force: true })
  }
}
