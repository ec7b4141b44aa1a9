import { readFileSync } from 'node:fs'
import { runWrangler } from '../../support/wrangler.ts'
import { bundleService } from '../bundles.ts'
import { atMost, type Figure, type Scale, singleFigure } from '../figure.ts'
import { type Profile, summarize } from '../profile.ts'
import { median } from '../rounds.ts'
import { workDir } from '../work-dir.ts'

const kilobytesMax = 110
const startUpMsMax = 25

/** The upload size of a deployment, and the CPU time that a new isolate needs before its first request. */
export async function measureBundle(scale: Scale): Promise<readonly Figure[]> {
  const { gzippedBytes, bytes } = await bundleService()
  const kilobytes = gzippedBytes / 1000
  const times: number[] = []
  let top = ''
  for (let round = 0; round < scale.rounds; round += 1) {
    const path = `${workDir}startup.cpuprofile`
    const args = ['check', 'startup', '--outfile', path, '--args=--minify --env=']
    await runWrangler(args, 'The start-up could not be profiled')
    const cpu = summarize(JSON.parse(readFileSync(path, 'utf8')) as Profile) // written by wrangler
    times.push(cpu.ms)
    top = cpu.top
      .slice(0, 4)
      .map(({ name, ms }) => `${name} ${ms.toFixed(1)}`)
      .join(', ')
  }
  const ms = median(times)
  const sizeNote = `${(bytes / 1000).toFixed(0)} kB before gzip`
  return [
    {
      ...singleFigure(
        'Worker bundle, minified and gzipped',
        kilobytes,
        'kB',
        sizeNote,
        atMost(kilobytesMax, kilobytes, 'kB'),
      ),
      headline: 'size of the Worker bundle, minified and gzipped',
    },
    singleFigure(
      'start-up CPU time, by `wrangler check startup`',
      ms,
      'ms',
      `largest parts: ${top}`,
      atMost(startUpMsMax, ms, 'ms'),
    ),
  ]
}
