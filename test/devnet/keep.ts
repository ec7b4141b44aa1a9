import { open, rename } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Evm } from './evm.ts'
import { oneByOne } from './one-by-one.ts'

/** Keeps a chain on the disk. */
export interface Keeping {
  /**
   * Stores the chain as it is now. When the promise resolves, the chain is on the disk, even if a
   * process is killed.
   */
  store(): Promise<void>
  /** The newest height that is stored; Infinity for a chain that is in memory only. */
  storedTo(): number
}

/** For a chain in memory only: stores nothing, and every height counts as stored. */
export const inMemory: Keeping = { store: async () => {}, storedTo: () => Number.POSITIVE_INFINITY }

const unzip = promisify(gunzip)

/**
 * Keeps the chain of `evm` in a file that is complete at any time. `startedAt` is the newest height
 * in the file at the start. anvil's own way of storing is not used: anvil overwrites the file in
 * place, and only now and then, so killing anvil could damage the file or lose blocks.
 */
export function keepIn(file: string, evm: Evm, startedAt: number): Keeping {
  let height = startedAt
  const store = async () => {
    const latest = Number(await evm.call<string>('eth_blockNumber')) // the dump may contain newer blocks than this
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
