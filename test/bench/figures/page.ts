import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { median } from '../rounds.ts'

/** It runs code in a browser, and is compiled with the browser's types. */
const script = fileURLToPath(import.meta.resolve('../../pages/speed.ts'))

/** Milliseconds from the navigation, as the script prints them. */
interface Times {
  readonly words: number
  readonly choice: number
  readonly address: number
}

/** How long a person with a phone waits for the deposit page: CPU at a quarter, 150 ms for a round trip, 1.6 Mbit/s. */
export async function measurePage({ rounds }: Scale): Promise<readonly Figure[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(rounds)])
  const times = JSON.parse(stdout) as readonly Times[] // written by the script
  const of = (name: keyof Times) => median(times.map((one) => one[name]))
  return [
    figure('deposit page on a phone with slow 4G: first words', of('words'), 'ms'),
    figure('the same: choice of the currency', of('choice'), 'ms'),
    figure('the same: address to be seen and copied', of('address'), 'ms', atMost(1_000, of('address'))),
  ]
}
