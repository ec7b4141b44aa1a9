import { readdirSync, readFileSync } from 'node:fs'

/**
 * Linux counts CPU time in hundredths of a second for programs, on each architecture that Node runs
 * on.
 */
const tickMs = 10

/**
 * The processes of workerd that this one has started. They are read from `/proc`, so the list is
 * empty on another system than Linux.
 */
export function workerdProcesses(): readonly string[] {
  return runningProcesses().filter((pid) => {
    const [name, fields] = statOf(pid)
    return name.endsWith('(workerd') && fields[1] === String(process.pid)
  })
}

/**
 * These processes and all their descendants that still run. PostgreSQL has one process for each
 * connection.
 */
export function withChildren(pids: readonly string[]): readonly string[] {
  const parents = runningProcesses().map((pid) => [pid, statOf(pid)[1][1] ?? ''] as const)
  const all = [...pids]
  // grows while it is read, so descendants are found
  for (const pid of all) all.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child))
  return all
}

function runningProcesses(): readonly string[] {
  return process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
}

/**
 * The CPU time that these processes have had, in milliseconds. It includes their threads, and those
 * of their children that have ended.
 */
export function cpuMsOf(pids: readonly string[]): number {
  // utime and stime, own and of ended children: fields 14 to 17 in proc(5), where the state after
  // the name is field 3
  const [first, end] = [11, 15]
  return pids.reduce((sum, pid) => {
    const [, fields] = statOf(pid)
    return fields.slice(first, end).reduce((own, ticks) => own + Number(ticks) * tickMs, sum)
  }, 0)
}

/** Resident memory of a process in MB: its peak (`VmHWM`), or the present one (`VmRSS`). */
export function megabytesOf(pid: string, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}

/**
 * The text of `/proc/<pid>/stat` up to the end of the name, and the fields after it. Both are empty
 * if the process has ended.
 */
function statOf(pid: string): readonly [name: string, fields: readonly string[]] {
  try {
    const [name = '', rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    return [name, rest.split(' ')]
  } catch {
    return ['', []]
  }
}
