import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second for programs, on each architecture that Node runs on. */
const tickMs = 10

/** The processes of workerd that this one has started. From `/proc`: empty on another system than Linux. */
export function workerdProcesses(): readonly string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    const [name, fields] = statOf(pid)
    return name.endsWith('(workerd') && fields[1] === String(process.pid)
  })
}

/** The CPU time that these processes have had, with all of their threads, in milliseconds. */
export function cpuMsOf(pids: readonly string[]): number {
  const [user, system] = [11, 12] // utime and stime, of which proc(5) counts the fields from the name on
  return pids.reduce((sum, pid) => {
    const [, fields] = statOf(pid)
    return sum + (Number(fields[user] ?? 0) + Number(fields[system] ?? 0)) * tickMs
  }, 0)
}

/** Memory of a process in MB: its peak, or what it has now. */
export function megabytesOf(pid: string, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}

/** The number and name of a process, and what follows them. Nothing where it has ended. */
function statOf(pid: string): readonly [name: string, fields: readonly string[]] {
  try {
    const [name = '', rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    return [name, rest.split(' ')]
  } catch {
    return ['', []]
  }
}
