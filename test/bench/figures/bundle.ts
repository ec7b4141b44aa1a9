import { mkdirSync, readFileSync } from 'node:fs'
import { runWrangler } from '../../support/wrangler.ts'
import { bundleService, workDir } from '../bundles.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { median } from '../rounds.ts'

/**
 * The upload size of a deployment, and the CPU time that a new isolate needs before its first
 * request.
 */
export async function measureBundle({ rounds }: Scale): Promise<readonly Figure[]> {
  const kilobytes = (await bundleService()).gzippedBytes / 1000
  const times: number[] = []
  mkdirSync(workDir, { recursive: true })
  for (let round = 0; round < rounds; round += 1) {
    const path = `${workDir}startup.cpuprofile`
    const args = ['check', 'startup', '--outfile', path, '--args=--minify --env=']
    await runWrangler(args, 'The start-up could not be profiled')
    times.push(busyMsOf(JSON.parse(readFileSync(path, 'utf8')) as Profile)) // written by wrangler
  }
  const ms = median(times)
  return [
    figure('Worker bundle, minified and gzipped', kilobytes, 'kB', atMost(230, kilobytes)),
    figure('start-up CPU time, by `wrangler check startup`', ms, 'ms', atMost(50, ms)),
  ]
}

/** A CPU profile in V8's format. */
interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** All time of a profile except idle time, in milliseconds. */
function busyMsOf({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
  return samples.reduce((sum, sample, i) => sum + (idle.has(sample) ? 0 : (timeDeltas[i] ?? 0) / 1000), 0)
}
