import { type ListedAddress, scanAddresses, wholeRange } from '../../../src/commands/collect/gather.ts'
import { noStops, type StopOf } from '../../../src/commands/collect/issuer-stops.ts'
import type { CollectPlan, SignedPlan } from '../../../src/commands/collect/plan.ts'
import { createPlan, type PlanOptions, readSettings } from '../../../src/commands/collect/plan-command.ts'
import { sendPlan } from '../../../src/commands/collect/send.ts'
import { findGasKey, signPlan } from '../../../src/commands/collect/sign.ts'
import type { SendOutcome, StepStates } from '../../../src/commands/collect/step-state.ts'
import { platformBindings } from '../../../src/commands/configuration.ts'
import { lookMs, openNodes } from '../../../src/commands/nodes.ts'
import { openMnemonic } from '../../../src/commands/signing/account-key.ts'
import { parseMnemonic } from '../../../src/commands/signing/mnemonic.ts'
import { deriveAddress, indexMax } from '../../../src/worker/addresses/derive.ts'
import { formatBase58, parseAddress } from '../../../src/worker/chain/address.ts'
import type { Result } from '../../../src/worker/common/result.ts'
import { type Config, parseConfig } from '../../../src/worker/config/config.ts'
import { type Devnet, startDevnet, temporary } from '../../devnet/chain.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { operatorBase58, treasuryBase58 } from '../../devnet/operator.ts'
import { result } from '../../devnet/support.ts'
import { type CommandTime, createCommandTime } from '../../support/command-time.ts'
import { testXpub } from '../../support/variables.ts'
import type { VirtualClock } from '../../support/virtual-clock.ts'

/** The public mnemonic of the local chain. */
export const testMnemonic = `${'test '.repeat(11)}junk`
/** The gas address of this mnemonic: the first address of account 1. */
export const gasAddress = operatorBase58
/** An address of another key, to which tests collect. */
export const destination = treasuryBase58

/** The keys of a mnemonic. Throws if the mnemonic is not valid. */
export const keysOf = (words: string) => openMnemonic(unwrap(parseMnemonic(words)))

/** The value of a result. Throws if it is an error. */
export function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

/**
 * A local chain with the configuration of a service, a gas address with TRX and a stake, and a
 * destination that exists.
 */
export interface CollectChain {
  readonly devnet: Devnet
  /** The clock of the commands. It advances with the chain's time. */
  readonly time: CommandTime
  /** Like `time`, but if a command waits for a block, the chain makes one. */
  readonly timeOfBlocks: CommandTime
  readonly config: Config
  depositAt(index: number): string
  /** Pays these deposits and makes them final. */
  deposit(...deposits: readonly (readonly [index: number, amount: string, currency: 'TRX' | 'USDT'])[]): Promise<void>
  /** The time of the newest block, in milliseconds since 1970. */
  headMs(): Promise<number>
  /** The balance of an address, in whole units. */
  balanceOf(address: string, currency: 'TRX' | 'USDT'): Promise<string>
  /**
   * Makes a plan to `destination`; by default every balance counts as worth its fees. `listed` are
   * the addresses; without `listed` the addresses are searched on the chain.
   */
  plan(
    options?: PlanOptions,
    listed?: readonly ListedAddress[],
    through?: Through,
    stopOf?: StopOf,
  ): Promise<CollectPlan>
  sign(plan: CollectPlan): SignedPlan
  send(
    signed: SignedPlan,
    changes?: SendChanges,
  ): Promise<{ readonly outcome: SendOutcome; readonly states: StepStates }>
  stop(): Promise<void>
}

/** Nodes other than the chain's own, and the `fetch` that reaches them. */
export interface Through {
  readonly config: Config
  readonly fetch: typeof fetch
}

export interface SendChanges extends Partial<Through> {
  readonly stopOf?: StopOf
  readonly signal?: AbortSignal
  /** Called before each look at the chain. */
  readonly onLook?: () => Promise<void>
}

/** Starts the chain. The gas address gets `stake` TRX as its stake and `gasTrx` TRX beside it. */
export async function startCollectChain({ stake = '100000', gasTrx = '500' } = {}): Promise<CollectChain> {
  const time = createCommandTime()
  const devnet = withTime(await startDevnet(temporary), time)
  await devnet.pay({ to: gasAddress, amount: gasTrx, currency: 'TRX' })
  await devnet.pay({ to: destination, amount: '1', currency: 'TRX' })
  await devnet.stake({ owner: gasAddress, amount: stake })
  await devnet.mine(3)
  const config = unwrap(parseConfig(bindingsFor(devnet)))
  const depositAt = (index: number) => formatBase58(deriveAddress(config.extendedPublicKey, index))
  return {
    devnet,
    time,
    timeOfBlocks: { ...time, clock: minedClock(devnet, time) },
    config,
    depositAt,
    async deposit(...deposits) {
      for (const [index, amount, currency] of deposits) await devnet.pay({ to: depositAt(index), amount, currency })
      await devnet.mine(3)
    },
    async headMs() {
      const { timestamp } = await result<{ timestamp: string }>(devnet, 'eth_getBlockByNumber', 'latest', false)
      return Number(timestamp) * 1_000
    },
    balanceOf: (address, currency) => readBalance(devnet, address, currency),
    async plan(options = {}, listed, through = { config, fetch }, stopOf = noStops) {
      const read = readSettings(through.config, testXpub, { to: destination, min: '0', ...options })
      const settings = { ...read, stopOf }
      const signal = new AbortController().signal
      const platform = { clock: minedClock(devnet, time), fetch: time.around(through.fetch), signal }
      const nodes = openNodes(through.config, platform)
      const planned = async () => {
        const addresses = listed ?? (await scanAddresses(nodes, config, wholeRange, () => {}))
        return createPlan(nodes, settings, addresses, 12, () => {})
      }
      return time.run(planned())
    },
    sign(plan) {
      const keys = keysOf(testMnemonic)
      return unwrap(signPlan(plan, keys, findGasKey(plan, keys)))
    },
    async send(signed, { signal = new AbortController().signal, onLook, ...changes } = {}) {
      const platform = { clock: minedClock(devnet, time, onLook), fetch: time.around(changes.fetch ?? fetch), signal }
      const states: StepStates = new Map()
      const nodes = openNodes(changes.config ?? config, platform)
      const outcome = await time.run(sendPlan(nodes, signed, changes.stopOf ?? noStops, states, () => {}))
      return { outcome, states }
    },
    stop: () => devnet.stop(),
  }
}

/** The limits of a public node would make commands wait for most of a test. */
export const noLimits = { perSecond: 100_000, perDay: 1_000_000_000 }

/** The variables of a service whose only node is this local chain, without limits on requests. */
export function bindingsFor(devnet: Pick<Devnet, 'rpcUrl' | 'apiUrl'>): Record<string, unknown> {
  return {
    ...platformBindings,
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: '0x6465766e',
    TRON_NODES: [{ rpc: devnet.rpcUrl, api: devnet.apiUrl, ...noLimits }],
    TRON_START_BLOCK: '1',
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6 },
    ],
    OPERATOR_ADDRESSES: [gasAddress],
    AUTH_JWT_SECRET: '0123456789abcdef0123456789abcdef',
  }
}

/** Addresses by index, without asking the chain which of them exist. */
export function listedAt(config: Config, ...indices: readonly number[]): readonly ListedAddress[] {
  return indices.map((index) => ({
    index,
    address: deriveAddress(config.extendedPublicKey, Math.min(index, indexMax)),
  }))
}

/** The chain `devnet`. Whenever its time advances, the clock of the commands advances as much. */
function withTime(devnet: Devnet, { clock }: CommandTime): Devnet {
  const advance = async (seconds: number) => {
    clock.jump(seconds * 1_000)
    await devnet.advance(seconds)
  }
  return { ...devnet, advance }
}

/** A clock for commands. If a command waits for a block, the chain makes one. */
function minedClock(
  { mine }: Devnet,
  { clock, real }: CommandTime,
  onLook: () => Promise<void> = async () => {},
): VirtualClock {
  return {
    ...clock,
    async sleep(ms, until) {
      await clock.sleep(ms, until)
      if (ms === lookMs) await real(onLook().then(() => mine()))
    },
  }
}

async function readBalance(devnet: Devnet, address: string, currency: 'TRX' | 'USDT'): Promise<string> {
  const parsed = unwrap(parseAddress(address))
  const data = `0x70a08231${parsed.padStart(64, '0')}`
  const held =
    currency === 'TRX'
      ? await result<string>(devnet, 'eth_getBalance', `0x${parsed}`, 'latest')
      : await result<string>(devnet, 'eth_call', { to: `0x${devnet.tokenAddress}`, data }, 'latest')
  return String(Number(BigInt(held)) / 1_000_000)
}
