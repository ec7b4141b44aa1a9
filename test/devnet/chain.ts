import { type Anvil, startAnvil } from './anvil.ts'
import { type Control, createControl, createSubmit, tokenAddress } from './control.ts'
import { createDevnetNode } from './node.ts'
import { tokenSelector } from './token/compile.ts'
import { startTronServer } from './tron-server.ts'

/** How to run the local chain. */
export interface DevnetOptions {
  /** The file that stores the chain, or null to keep it in memory only. */
  readonly statePath: string | null
  /** Seconds between two blocks, or null to make blocks on command only (`mine`): then tests wait for no timer. */
  readonly blockSeconds: number | null
  /** Ports of the Tron server and of anvil; 0 chooses a free one. */
  readonly tronPort: number
  readonly anvilPort: number
  /** Blocks from the newest to the newest final one; a few where it is not given, so that the wait is short. */
  readonly finalityLag?: number
}

/**
 * A running local chain. A test in workerd can't use this object and calls the same controls over HTTP: `POST
 * {apiUrl}/devnet/pay` `{ to, amount, currency }`, `/devnet/synthetic` `{ type, to, owner?, amount? }` and
 * `/devnet/send` `{ from?, to?, value?, data? }`, which return `{ txid }`, and `/devnet/mine` `{ blocks? }`, which
 * returns `{ latest, finalized }`. The next mined block contains the transaction; two more blocks make it final.
 */
export interface Devnet extends Control {
  readonly rpcUrl: string
  readonly apiUrl: string
  /** The newest height at the start: the newest block of the state file. */
  readonly startedAt: number
  /** Resolves when anvil has ended for any reason. */
  readonly ended: Anvil['ended']
  stop(): Promise<void>
}

/** A chain for one test file: in memory, on free ports, with blocks on command. */
export const temporary: DevnetOptions = { statePath: null, blockSeconds: null, tronPort: 0, anvilPort: 0 }

/** Starts anvil and the Tron server, and deploys the test token if the chain does not have it yet. */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { statePath, blockSeconds, tronPort, anvilPort, finalityLag } = options
  const anvil = await startAnvil({ port: anvilPort, statePath, blockSeconds })
  try {
    const selector = tokenSelector('phantomTransfer(address,uint256)')
    const node = createDevnetNode(anvil.evm, { contract: tokenAddress, selector }, finalityLag)
    const submit = createSubmit(node)
    const control = createControl(node, submit)
    const { latest: startedAt } = await node.heads()
    await control.deployToken()
    const server = await startTronServer(node, control, submit, tronPort)
    const stop = async () => {
      await server.close()
      await anvil.stop()
    }
    return { ...control, rpcUrl: `${server.url}/jsonrpc`, apiUrl: server.url, startedAt, ended: anvil.ended, stop }
  } catch (error) {
    await anvil.stop() // it must not outlive this process
    throw error
  }
}
