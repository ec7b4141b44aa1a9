import { readFileSync } from 'node:fs'
import { runWrangler } from '../../support/wrangler.ts'
import { bundleService, workDir } from '../bundles.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { cpuMsOf, type Profile } from '../profile.ts'
import { median } from '../rounds.ts'

/** The upload size of a deployment, and the CPU time that a new isolate needs before its first request. */
export async function measureBundle({ rounds }: Scale): Promise<readonly Figure[]> {
  const kilobytes = (await bundleService()).gzippedBytes / 1000
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const path = `${workDir}startup.cpuprofile`
    const args = ['check', 'startup', '--outfile', path, '--args=--minify --env=']
    await runWrangler(args, 'The start-up could not be profiled')
    times.push(cpuMsOf(JSON.parse(readFileSync(path, 'utf8')) as Profile)) // written by wrangler
  }
  const ms = median(times)
  return [
    figure('Worker bundle, minified and gzipped', kilobytes, 'kB', atMost(110, kilobytes)),
    figure('start-up CPU time, by `wrangler check startup`', ms, 'ms', atMost(25, ms)),
  ]
}
