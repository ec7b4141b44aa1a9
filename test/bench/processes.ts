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
  const [user, system] = [11, 12] // utime and stime: fields 14 and 15 in proc(5), where the state after the name is field 3
  return pids.reduce((sum, pid) => {
    const [, fields] = statOf(pid)
    return sum + (Number(fields[user] ?? 0) + Number(fields[system] ?? 0)) * tickMs
  }, 0)
}

/** Resident memory of a process in MB: its peak (`VmHWM`), or the present one (`VmRSS`). */
export function megabytesOf(pid: string, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}

/** The text of `/proc/<pid>/stat` up to the end of the name, and the fields after it. Both are empty if the process has ended. */
function statOf(pid: string): readonly [name: string, fields: readonly string[]] {
  try {
    const [name = '', rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    return [name, rest.split(' ')]
  } catch {
    return ['', []]
  }
}
