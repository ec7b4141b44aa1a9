import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { replyBytesMax } from '../../../src/tron/limits.ts'
import { root, UserError } from '../../support/project.ts'
import { atMost, type Figure, singleFigure } from '../figure.ts'

const script = 'test/tron/transport/reply-memory.ts'
const timeoutMs = 180_000
/** Megabytes that a reply may take of an isolate's 128. */
const megabytesMax = 64
const linePattern = /^(.+): (\d+) MB, (parsed|refused|too large|the isolate was stopped)/

/** The memory of the worst replies in workerd. It is read from `/proc`, so there is no figure on other systems than Linux. */
export async function measureMemory(): Promise<readonly Figure[]> {
  if (process.platform !== 'linux') return []
  const { stdout } = await promisify(execFile)(process.execPath, [script], { cwd: root, timeout: timeoutMs })
  const replies = stdout.split('\n').flatMap((line) => {
    const [, name = '', megabytes, outcome = ''] = linePattern.exec(line) ?? []
    return megabytes === undefined ? [] : [{ name, megabytes: Number(megabytes), outcome }]
  })
  const stopped = replies.find(({ outcome }) => outcome === 'the isolate was stopped')
  if (stopped !== undefined) throw new UserError(`${stopped.name}: the isolate was stopped`)
  const worstOf = (isRead: boolean) => {
    const some = replies.filter(({ outcome }) => (outcome === 'parsed') === isRead)
    const [worst] = some.sort((a, b) => b.megabytes - a.megabytes)
    if (worst === undefined) throw new UserError(`${script} has printed no such reply`)
    return worst
  }
  const [read, refused] = [worstOf(true), worstOf(false)]
  return [
    singleFigure(
      `memory of the worst reply that is read, ${(replyBytesMax / 1e6).toFixed(1)} MB long`,
      read.megabytes,
      'MB',
      `${read.name}; an isolate has 128 MB`,
      atMost(megabytesMax, read.megabytes, 'MB'),
    ),
    singleFigure(
      'memory of the worst reply that is refused',
      refused.megabytes,
      'MB',
      refused.name,
      atMost(megabytesMax, refused.megabytes, 'MB'),
    ),
  ]
}
