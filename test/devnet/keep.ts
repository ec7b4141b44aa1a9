import { open, rename } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Evm } from './evm.ts'
import { oneByOne } from './one-by-one.ts'

/** Keeps a chain on the disk. */
export interface Keeping {
  /** Stores the chain as it is now. When the promise resolves, the stored chain survives any end of any process. */
  store(): Promise<void>
  /** The newest height that is stored; Infinity for a chain that is in memory only. */
  storedTo(): number
}

/** For a chain in memory only: stores nothing, and every height counts as stored. */
export const inMemory: Keeping = { store: async () => {}, storedTo: () => Number.POSITIVE_INFINITY }

const unzip = promisify(gunzip)

/**
 * Keeps the chain of `evm` in a file that is complete at any time. `startedAt` is the height that the file had at the start. anvil's own storing is not
 * used: it writes into the file in use, and only now and then, so that killing anvil could lose blocks.
 */
export function keepIn(file: string, evm: Evm, startedAt: number): Keeping {
  let height = startedAt
  const store = async () => {
    const latest = Number(await evm.call<string>('eth_blockNumber')) // what is mined meanwhile is stored as well
    const zipped = await evm.call<string>('anvil_dumpState')
    const next = await open(`${file}.new`, 'w')
    try {
      await next.writeFile(await unzip(Buffer.from(zipped.slice(2), 'hex')))
      await next.sync()
    } finally {
      await next.close()
    }
    await rename(`${file}.new`, file)
    height = latest
  }
  return { store: oneByOne(store), storedTo: () => height }
}
