import { startAnvil } from './anvil.ts'
import { type Control, createControl, tokenAddress } from './control.ts'
import { createNode } from './node.ts'
import { tokenSelector } from './token/compile.ts'
import { startFace } from './tron-server.ts'

/** How to run the local chain. */
export interface DevnetOptions {
  /** The file that keeps the chain, or null for one that is gone when it stops. */
  readonly statePath: string | null
  /** Seconds between two blocks, or null to make them on command only (`mine`): tests then wait for no clock. */
  readonly blockSeconds: number | null
  /** Ports of the Tron face and of anvil behind it; 0 takes a free one. */
  readonly facePort: number
  readonly anvilPort: number
}

/**
 * A running local chain. A test that can't hold this object (it runs in workerd) reaches the same controls over HTTP:
 * `POST {apiUrl}/devnet/pay` `{ to, amount, currency }`, `/devnet/inject` `{ type, to, owner?, amount? }`, `/devnet/send`
 * `{ from?, to?, value?, data? }`, each answering `{ txid }`, and `/devnet/mine` `{ blocks? }`, answering
 * `{ latest, finalized }`. What was sent is in the first block mined after it, and final with two more.
 */
export interface Devnet extends Control {
  readonly rpcUrl: string
  readonly apiUrl: string
  /** The newest height when the chain came up: what the state file held. */
  readonly startedAt: number
  /** Resolves when anvil has ended, asked to or not. */
  readonly ended: Promise<{ readonly lastWords: string }>
  stop(): Promise<void>
}

/** A chain for one test file: nothing kept, free ports, blocks on command. */
export const temporary: DevnetOptions = { statePath: null, blockSeconds: null, facePort: 0, anvilPort: 0 }

/** Starts anvil and the Tron face before it, and deploys the test token where the chain has none. */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { statePath, blockSeconds, facePort, anvilPort } = options
  const anvil = await startAnvil({ port: anvilPort, statePath, blockSeconds })
  try {
    const selector = tokenSelector('phantomTransfer(address,uint256)')
    const node = createNode(anvil.evm, { contract: tokenAddress, selector })
    const control = createControl(node)
    const { latest: startedAt } = await node.tips()
    await control.deployToken()
    const face = await startFace(node, control, facePort)
    const stop = async () => {
      await face.close()
      await anvil.stop()
    }
    return { ...control, rpcUrl: `${face.url}/jsonrpc`, apiUrl: face.url, startedAt, ended: anvil.ended, stop }
  } catch (error) {
    await anvil.stop() // or it would outlive this process
    throw error
  }
}
