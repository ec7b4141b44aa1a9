import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyLine, cellName, verifierKey, writeArchive } from '../../commands/audit/archive-builder.ts'
import { createStory } from '../../commands/audit/archive-story.ts'
import { root } from '../../support/project.ts'
import { workDir } from '../bundles.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { megabytesOf } from '../processes.ts'

/** Lines of the archive in a full run. */
const linesMax = 1_000_000
const users = 20_000

/** How `npm run audit -- verify` checks a large archive, beside `sha256sum` over the same bytes. */
export async function measureAudit({ work }: Scale): Promise<readonly Figure[]> {
  const folder = join(workDir, 'archive')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const lines = Math.round(linesMax * work)
  writeArchive(folder, manyLines(lines), { rows: 1_000 })
  const segments = join(folder, cellName, 'segments')
  const files = readdirSync(segments).map((name) => join(segments, name))
  // in parts, because a command line has a limit
  const hashing = await run('xargs', ['-0', 'sha256sum'], files.join('\0'))
  // as npm runs it, but for npm, whose memory is its own
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: { audit: string } }
  const [, ...words] = scripts.audit.split(' ')
  const audit = await run(process.execPath, [...words, 'verify', folder, '--verifier', verifierKey], '')
  const rebuild = await run(
    process.execPath,
    [...words, 'rebuild', join(folder, cellName), join(folder, 'rebuilt.sql')],
    '',
  )
  rmSync(folder, { recursive: true })
  const name = `audit verify, ${lines} lines`
  const rebuilt = `audit rebuild, ${lines} lines`
  return [
    {
      ...figure(name, audit.seconds, 's', atMost(60, audit.seconds)),
      baseline: `sha256sum: ${hashing.seconds.toFixed(2)}`,
      ratio: audit.seconds / hashing.seconds,
    },
    figure(`${name}: peak memory`, audit.megabytes, 'MB', atMost(300, audit.megabytes)),
    figure(rebuilt, rebuild.seconds, 's'),
    figure(`${rebuilt}: peak memory`, rebuild.megabytes, 'MB', atMost(300, rebuild.megabytes)),
  ]
}

/** Runs a program to its end, which must be a good one. */
async function run(program: string, args: readonly string[], input: string) {
  const start = performance.now()
  const child = spawn(program, args, { cwd: root, stdio: ['pipe', 'ignore', 'inherit'] })
  child.stdin.end(input)
  let megabytes = 0
  const timer = setInterval(() => {
    if (child.exitCode !== null || process.platform !== 'linux') return
    megabytes = Math.max(megabytes, megabytesOf(String(child.pid), 'VmHWM')) // 0 once it ends
  }, 50)
  const code = await new Promise((resolve) => child.once('close', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
  return { seconds: (performance.now() - start) / 1000, megabytes }
}

/** About so many lines of everything, of many users. */
function* manyLines(count: number): Iterable<AnyLine> {
  const story = createStory()
  story.configure()
  for (let uid = 1; uid <= users; uid += 1) story.address(uid)
  let made = 0
  for (let step = 0; made < count; step += 1) {
    const uid = 1 + ((step * 7_919) % users)
    story.tick()
    story.deposit(uid, 2, 30_000_000n)
    story.transfer(uid, 1 + (uid % users), 2, 1_500_000n, `gift-${step}`)
    for (let i = 0; i < 5; i += 1) story.post(uid, 2, 4, -250_000n, `order-${step}-${i}`)
    if (step % 10 === 0) story.payout(uid, 4_000_000n, step % 20 === 0)
    if (step % 90 === 0) story.complete()
    made += story.lines.length
    yield* story.lines.splice(0)
  }
  story.complete()
  yield* story.lines.splice(0)
}
