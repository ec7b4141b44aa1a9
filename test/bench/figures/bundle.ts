import { readFileSync } from 'node:fs'
import { bundleService, runWrangler } from '../bundles.ts'
import { atMost, type Figure, type Scale, stated } from '../figure.ts'
import { type Profile, summarize } from '../profile.ts'
import { workDir } from '../project.ts'
import { median } from '../rounds.ts'

const kilobytesMax = 110
const startUpMsMax = 25

/** What a deployment uploads, and what each new isolate costs before its first request. */
export async function measureBundle(scale: Scale): Promise<readonly Figure[]> {
  const { gzippedBytes, bytes } = await bundleService()
  const kilobytes = gzippedBytes / 1000
  const times: number[] = []
  let top = ''
  for (let round = 0; round < scale.rounds; round += 1) {
    const path = `${workDir}startup.cpuprofile`
    await runWrangler(['check', 'startup', '--outfile', path, '--args=--minify --env='])
    const cpu = summarize(JSON.parse(readFileSync(path, 'utf8')) as Profile) // wrangler's own file
    times.push(cpu.ms)
    top = cpu.top
      .slice(0, 4)
      .map(({ name, ms }) => `${name} ${ms.toFixed(1)}`)
      .join(', ')
  }
  const ms = median(times)
  return [
    stated(
      'Worker bundle, minified and gzipped',
      kilobytes,
      'kB',
      `${(bytes / 1000).toFixed(0)} kB before gzip`,
      atMost(kilobytesMax, kilobytes, 'kB'),
    ),
    stated('start-up CPU by `wrangler check startup`', ms, 'ms', `most: ${top}`, atMost(startUpMsMax, ms, 'ms')),
  ]
}
