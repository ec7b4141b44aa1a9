import { open, rename } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Evm } from './evm.ts'
import { oneByOne } from './one-by-one.ts'

/** What keeps a chain on the disk. */
export interface Keeping {
  /** Stores the chain as it is now. When this resolves, it survives any end of any process. */
  store(): Promise<void>
  /** The newest height that is stored; Infinity for a chain that is in memory only. */
  storedTo(): number
}

/** Stores nothing. */
export const inMemory: Keeping = { store: async () => {}, storedTo: () => Number.POSITIVE_INFINITY }

const unzip = promisify(gunzip)

/**
 * Keeps the chain of `evm` in a file, which is whole at any time. `storedTo` begins with the height that the file had. anvil's own
 * storing writes into the file in use, each minute half or at its end: what was mined since then is lost when it is killed.
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
