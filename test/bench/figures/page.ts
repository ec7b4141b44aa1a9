import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { median } from '../rounds.ts'

/**
 * The script that opens the page in a browser. It is in another folder, because it is compiled with
 * the browser's types.
 */
const script = fileURLToPath(import.meta.resolve('../../pages/speed.ts'))

/**
 * Milliseconds from the navigation until the browser has drawn the heading (`words`) and the
 * address, as the script prints them.
 */
interface Times {
  readonly words: number
  readonly address: number
}

/** Longest wait for the address, in milliseconds. */
const waitMsMax = { slow4G: 1_000, slow3G: 2_500 }

/**
 * How long a person with a phone waits for the deposit page: CPU at a quarter, a slow connection,
 * an empty cache.
 */
export async function measurePage({ rounds }: Scale): Promise<readonly Figure[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(rounds)])
  // written by the script
  const times = JSON.parse(stdout) as Readonly<Record<keyof typeof waitMsMax, readonly Times[]>>
  const of = (connection: keyof typeof waitMsMax, name: keyof Times) =>
    median(times[connection].map((one) => one[name]))
  const address = (connection: keyof typeof waitMsMax) => {
    const ms = of(connection, 'address')
    return figure('the same: address to be seen and copied', ms, 'ms', atMost(waitMsMax[connection], ms))
  }
  return [
    figure('deposit page on a phone with slow 4G: first words', of('slow4G', 'words'), 'ms'),
    address('slow4G'),
    figure('deposit page on a phone with slow 3G: first words', of('slow3G', 'words'), 'ms'),
    address('slow3G'),
  ]
}
