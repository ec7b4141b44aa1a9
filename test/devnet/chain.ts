import { setTimeout } from 'node:timers/promises'
import { type Anvil, slotSeconds, startAnvil, timeBehind } from './anvil.ts'
import { type Control, ControlError, createControl } from './control.ts'
import type { Evm } from './evm.ts'
import { inMemory, keepIn } from './keep.ts'
import { createDevnetNode, type DevnetNode } from './node.ts'
import { startTronServer } from './tron-server.ts'

export interface DevnetOptions {
  /** The file that stores the chain, or null to keep it in memory only. */
  readonly statePath: string | null
  /**
   * Whether it makes blocks by a timer once `keepInTime` was called. Otherwise it makes them only
   * on command (`mine`), so that tests wait for no timer.
   */
  readonly isTimed: boolean
  /** By how many blocks the newest final block is below the newest block. */
  readonly finalityBlocks: number
  /** Ports of the Tron server and of anvil; 0 chooses a free port. */
  readonly tronPort: number
  readonly anvilPort: number
  /**
   * How far behind the clock the chain's time begins. A chain that makes blocks by a timer comes to
   * the clock with the first one of them.
   */
  readonly behindSeconds: number
}

const paceCheckMs = 10_000
/**
 * The chain is stored each time this has passed, in milliseconds. A block is final only after 18 s,
 * so every final block is stored.
 */
const storeEveryMs = 5_000
/** How long a payment waits for its block, which usually comes within 3 s. */
const mineTimeoutMs = 60_000
const mineLookMs = 200

/**
 * A running local chain. A test in workerd cannot use this object, so it makes POST requests to
 * `{apiUrl}/devnet/…`. Three of them send a transaction and return `{ txid }`: `pay`
 * `{ to, amount, currency }`, `synthetic` `{ type, value }` and `send`
 * `{ from?, to, value?, data?, fails? }`. `mine` `{ blocks? }` returns `{ latest, finalized }`;
 * `info` also returns the number of `requests` to the node. The next block contains the
 * transaction, and `finalityBlocks` more blocks make it final.
 */
export interface Devnet extends Control {
  readonly rpcUrl: string
  readonly apiUrl: string
  /** The height of the newest block when the chain was started; 0 for a new chain. */
  readonly startedAt: number
  /** Resolves when anvil has ended for any reason. */
  readonly ended: Anvil['ended']
  /** The id of anvil's process. */
  readonly pid: Anvil['pid']
  /**
   * Begins the blocks of a chain that makes them by a timer, and brings its time to the clock; from
   * then on this is done every 10 s. Before, each payment has a block at once.
   */
  keepInTime(): Promise<void>
  stop(): Promise<void>
}

/**
 * Options of a chain for one test file: in memory, on free ports, with blocks only on command, at
 * most 1,200 blocks.
 */
export const temporary: DevnetOptions = {
  statePath: null,
  isTimed: false,
  finalityBlocks: 2,
  tronPort: 0,
  anvilPort: 0,
  behindSeconds: 3_600,
}

/**
 * Starts anvil and the Tron server, and deploys the test token if the chain does not have it yet.
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { tronPort, anvilPort } = options
  const anvil = await startAnvil({ ...options, port: anvilPort })
  try {
    const startedAt = Number(await anvil.evm.call<string>('eth_blockNumber'))
    const keeping = options.statePath === null ? inMemory : keepIn(options.statePath, anvil.evm, startedAt)
    const node = createDevnetNode(anvil.evm, options.finalityBlocks, keeping)
    const pacer = options.isTimed ? createPacer(anvil.evm) : null
    const keepPayment = async (txid: string) => {
      if (pacer === null) return
      if (!pacer.hasBegun()) await anvil.evm.call('anvil_mine', '0x1')
      await untilMined(node, txid)
      await keeping.store()
    }
    const control: Control = createControl(node, { store: keeping.store, keepPayment })
    await control.deployToken()
    const server = await startTronServer(node, control, tronPort)
    const timers: NodeJS.Timeout[] = []
    const keepInTime = async () => {
      if (pacer === null) return
      if (timers.length === 0) {
        timers.push(setInterval(() => void pacer.keep(), paceCheckMs))
        timers.push(setInterval(() => void keeping.store().catch(() => {}), storeEveryMs))
      }
      await pacer.keep()
    }
    const stop = async () => {
      for (const timer of timers) clearInterval(timer)
      await server.close()
      // anvil may have ended already; nothing is lost, because a payment is reported only after it
      // is stored
      await keeping.store().catch(() => {})
      await anvil.stop()
    }
    const { ended, pid } = anvil
    return { ...control, rpcUrl: `${server.url}/jsonrpc`, apiUrl: server.url, startedAt, ended, pid, keepInTime, stop }
  } catch (error) {
    await anvil.stop() // anvil must not outlive this process
    throw error
  }
}

/**
 * Waits until a block contains the payment: usually the next block. Throws after `mineTimeoutMs`.
 */
async function untilMined(node: DevnetNode, txid: string): Promise<void> {
  const end = Date.now() + mineTimeoutMs
  while ((await node.findTransaction(txid))?.kind !== 'mined') {
    if (Date.now() > end)
      throw new ControlError('The payment was sent, and no block has it yet: the local chain is slow.')
    await setTimeout(mineLookMs)
  }
}

/**
 * Keeps the time of a chain that makes blocks by a timer at the clock: an order counts only blocks
 * that are made after it. From the first `keep` on the chain makes one block at the beginning of
 * each slot of 3 s, as the real one does. After the machine has slept or was busy, its next block
 * has the present time.
 */
function createPacer(evm: Evm) {
  let hasBegun = false
  return {
    hasBegun: () => hasBegun,
    async keep(): Promise<void> {
      try {
        const { timestamp } = await evm.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
        const age = timeBehind(0) - Number(timestamp)
        if (hasBegun && age <= slotSeconds) return
        const slotMs = slotSeconds * 1_000
        await setTimeout(slotMs - (Date.now() % slotMs))
        const slot = timeBehind(0)
        // Setting the interval begins it anew: so the next block comes with the next slot.
        await evm.call('evm_setIntervalMining', slotSeconds)
        hasBegun = true
        if (age > slotSeconds) await evm.call('evm_setNextBlockTimestamp', slot + slotSeconds)
      } catch {
        // a call fails only if anvil has ended, which `ended` reports
      }
    },
  }
}
