import type { AgreedNodes } from '../../src/commands/nodes.ts'
import { firstLine, type JournalEntry, type JournalFile, readJournal } from '../../src/commands/payout/journal.ts'
import { parseLimits } from '../../src/commands/payout/limits.ts'
import { keepSigning } from '../../src/commands/payout/run.ts'
import { openService } from '../../src/commands/payout/service.ts'
import type { Signer } from '../../src/commands/payout/signer.ts'
import { ToolError } from '../../src/commands/tool-error.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { assetsSchema } from '../../src/worker/config/chain.ts'
import { parseBindings } from '../../src/worker/config/schemas.ts'
import type { Clock } from '../../src/worker/platform/clock.ts'
import { payoutAddress, payoutBase58, signatureOf } from '../support/payouts.ts'
import { checkAnswer } from './callers/client.ts'
import { backendTokenAt } from './callers/tokens.ts'
import { chainId } from './chain.ts'
import { trackOperation } from './event-loop.ts'
import { canBeMined, isLacking, keyOf, minedAs, type PayoutWorld } from './payouts.ts'
import { currencyVariable } from './scenario.ts'
import type { SimulatedRun } from './simulated-run.ts'

const assets = parseBindings(assetsSchema, { TRON_CHAIN_ID: chainId, CURRENCIES: currencyVariable })
if (!assets.ok) throw new Error(assets.error.join())
const { currencies } = assets.value
const limitsText = JSON.stringify(currencyVariable.map(({ cuy }) => ({ cuy, each: '9000000', perDay: '900000000' })))
const owner = { chainId, address: payoutBase58 }
/** A signer gives up a request after this time. */
const requestMs = 15_000

/**
 * A machine with the private key, and with what is on its disk. The signer's processes run on it
 * one after the other.
 */
interface Machine {
  readonly number: number
  readonly skewMs: number
  disk: string
  /** When the service last said what may be signed. */
  offeredAt: number
  /** Counts the processes: those before the last one have ended. */
  started: number
}

interface Process {
  readonly run: SimulatedRun
  readonly world: PayoutWorld
  readonly machine: Machine
  /**
   * Await this wherever the process can be killed. If it is killed there, the promise never
   * resolves.
   */
  step(): Promise<void>
  /** Whether the process is killed while it writes. */
  diesNow(): boolean
}

/** The signers of a run, which work until its payouts are over. */
export interface Signers {
  /** Loses the journal of one signer, whose machine begins a new one. */
  loseJournal(): void
}

/** Starts the signers. A signer that is killed starts again. */
export function startSigners(run: SimulatedRun, world: PayoutWorld): Signers {
  const { scheduler, scenario } = run.env
  const header = () => firstLine(owner, scheduler.now())
  const machines = Array.from({ length: scenario.payouts?.signers ?? 0 }, (_, i): Machine => {
    return { number: i + 1, skewMs: world.random.int(-5_000, 5_000), disk: header(), offeredAt: 0, started: 0 }
  })
  for (const machine of machines) scheduler.after(1, () => startProcess(run, world, machine))
  return {
    loseJournal() {
      const machine = world.random.pick(machines)
      run.env.count('signer: journal lost')
      run.env.trace(() => `signer ${machine.number} begins a new journal`)
      machine.disk = header()
      startProcess(run, world, machine)
    },
  }
}

/** What a killed process throws where it cannot wait. */
const killed = new Error('killed')

function startProcess(run: SimulatedRun, world: PayoutWorld, machine: Machine): void {
  const { env } = run
  const { random } = world
  machine.started += 1
  const own = machine.started
  let stepsLeft = random.chance(env.scenario.payouts?.kill ?? 0) ? random.int(1, 25) : Number.POSITIVE_INFINITY
  const die = () => {
    env.count('signer killed')
    env.trace(() => `signer ${machine.number}.${own} killed`)
    machine.started += 1
    env.scheduler.after(random.int(1_000, 40_000), () => startProcess(run, world, machine))
  }
  const isOver = () => machine.started !== own || world.isOver
  const process: Process = {
    run,
    world,
    machine,
    async step() {
      if (!world.isCalm) stepsLeft -= 1
      if (stepsLeft <= 0 && !isOver()) die()
      while (world.isPaused && !isOver())
        await env.scheduler.wait(Math.max(1_000, env.sleepsUntil - env.scheduler.now()))
      if (isOver()) await new Promise(() => {})
    },
    diesNow() {
      if (!world.isCalm) stepsLeft -= 1
      if (stepsLeft > 0) return false
      die()
      return true
    },
  }
  const signer = openSigner(process)
  const { clock } = signer
  const parts = {
    signer,
    clock,
    service: openService('https://wallet.test', async () => backendTokenAt(env, 'signer'), fetchIn(process)),
    nodes: nodesOf(process),
    print: (line: string) => env.trace(() => `signer ${machine.number}.${own}: ${line}`),
  }
  keepSigning(parts, new AbortController().signal).catch((cause: unknown) => {
    if (cause !== killed) env.violate(`signer ${machine.number} threw ${(cause as Error).stack}`)
  })
}

function openSigner(process: Process): Signer & { readonly clock: Clock } {
  const { run, machine, step } = process
  const { env } = run
  const { scheduler, scenario } = env
  const lagMs = scenario.finalityLag * 15_000 + scenario.scanEverySeconds * 1_000
  return {
    settings: { chainId, currencies, address: payoutAddress, feeLimit: 100_000_000n },
    limits: parseLimits(limitsText, currencies),
    backendKeys: null,
    minutes: 6 + Math.ceil(lagMs / 60_000),
    key: { address: payoutAddress, sign: (rawData) => signatureOf(rawData) },
    journal: readJournal('journal', owner, openDisk(process)),
    clock: {
      now: () => (scheduler.now() + machine.skewMs) as UnixMs, // milliseconds since 1970
      random: () => process.world.random.next(),
      async sleep(ms) {
        await scheduler.wait(ms <= 2_000 ? ms * process.world.sleepFactor : ms)
        await step()
      },
    },
    own: null, // no second comparison of the head by the signer: here the service alone must find nodes that lie
    proven: new Map(),
    again: new Set(),
  }
}

/**
 * The file of a journal. A process that is killed while it writes leaves nothing, a part of the
 * line, or all of it.
 */
function openDisk({ run, world, machine, diesNow }: Process): JournalFile {
  const [rest = '', ...lines] = machine.disk.split('\n').reverse()
  machine.disk = machine.disk.slice(0, machine.disk.length - rest.length)
  return {
    lines: lines.reverse(),
    wasCut: rest !== '',
    append(text) {
      const isKilled = diesNow()
      const written = isKilled ? world.random.pick([0, text.length >> 1, text.length]) : text.length
      machine.disk += text.slice(0, written)
      // safe: the signer's own line
      if (written === text.length) noteSigned(run, world, machine, JSON.parse(text) as JournalEntry)
      if (isKilled) throw killed
    },
    close: () => undefined,
  }
}

/**
 * For this much of the chain's time nothing is signed after a restore: an hour, less the difference
 * of clocks.
 */
const restoredMs = 3_600_000 - 2_000

/**
 * Checks what a signer has signed. What its machine has signed before for this payout must not be
 * able to pay any more, and must not have paid. A transaction must pay one payout only. Nothing may
 * be signed that was offered soon after a restore. A transaction that was lost with a journal,
 * before anybody else had it, can never be mined.
 */
function noteSigned(
  { env }: SimulatedRun,
  world: PayoutWorld,
  { number, disk, offeredAt }: Machine,
  entry: JournalEntry,
): void {
  const { txid, transaction, expiration } = entry
  const key = keyOf(entry)
  env.count('signed')
  const name = `signer ${number} signs ${key}`
  const finalMs = (env.chain.at(env.finalized())?.seconds ?? 0) * 1_000
  // The service may know again what the restored copy lacked: a block contains the transactions, or
  // they were handed in again.
  const isOfCopy = offeredAt > world.lackingSince && finalMs < world.lackingSince + restoredMs
  if (isOfCopy && isLacking(env, world)) env.violate(`${name} after a restore that lacks what was sent`)
  const other = world.signed.get(txid as Txid)?.key
  if (other !== undefined && other !== key) env.violate(`${name} by the transaction of ${other}`)
  for (const [earlier, one] of world.signed) {
    if (one.key !== key || one.signer !== number) continue
    const isHeld = disk.includes(earlier) || world.pool.has(earlier) || world.bytesOf(earlier) !== undefined
    const isOpen = (isHeld && canBeMined(env, earlier, one.expiration)) || minedAs(env, earlier)?.succeeded === true
    if (isOpen) env.violate(`${name} again, although ${earlier} can pay or has paid`)
    env.count('signed again')
  }
  world.signed.set(txid as Txid, { key, signer: number, transaction, expiration })
}

/** Requests to the service. Their answers can be lost, and come late. */
function fetchIn({ run, world, machine, step }: Process): typeof globalThis.fetch {
  const { env } = run
  return async (url, init) => {
    await step()
    const answer = run.ledger('signer', async (fetch, invocation) => {
      const { method = 'GET', headers, body } = init ?? {}
      const request = { method, headers: headers as Record<string, string>, ...(body ? { body: String(body) } : {}) }
      const response = await fetch(new Request(String(url), request))
      const text = await trackOperation(response.text())
      env.trace(() => `${invocation.name} ← ${response.status} ${text.slice(0, 300)}`)
      checkAnswer(env, invocation, response, text)
      if (response.status === 200 && method === 'GET') machine.offeredAt = env.scheduler.now()
      return { status: response.status, headers: response.headers, text }
    })
    const late = env.scheduler.wait(requestMs).then(() => null)
    const isLost = !world.isCalm && world.random.chance((env.scenario.payouts?.trouble ?? 0) / 10)
    const got = await Promise.race([isLost ? late : answer, late])
    await step()
    if (got === null) throw new Error('no answer')
    const { status, headers, text } = got
    return { status, headers, body: chunksOf(text) } as unknown as Response // safe: the signer reads only these members
  }
}

async function* chunksOf(text: string) {
  yield new TextEncoder().encode(text)
}

/** The signer's own nodes: they say what is on the chain, or none of them answers. */
function nodesOf({ run: { env }, world, step }: Process): AgreedNodes {
  const answer = async () => {
    await step()
    await env.scheduler.wait(world.random.int(10, 2_000))
    await step()
    if (!world.isCalm && world.random.chance(0.1)) throw new ToolError('no node answered', 'try again')
  }
  return {
    async read() {
      await answer()
      const { height, seconds } = env.chain.at(env.finalized()) ?? env.chain.tip()
      return { header: { height, timestamp: seconds * 1_000 } }
    },
    async agree(_: string, { value: id }: { value: string }, { parse }: { parse: (reply: unknown) => unknown }) {
      await answer()
      const blockNumber = env.chain.blockOf(id)?.height
      if (blockNumber === undefined) return parse({})
      return parse({ id, blockNumber, ...(minedAs(env, id)?.succeeded === true ? {} : { result: 'FAILED' }) })
    },
  } as unknown as AgreedNodes // safe: a signer calls only these two methods
}
