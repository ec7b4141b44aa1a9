import type { ChildProcess } from 'node:child_process'

const runningPids = new Set<number>()

/**
 * Ends a child process, and all processes of its group, when this process exits for any reason
 * except SIGKILL. The child must have been started with `detached`, which gives it a group of its
 * own.
 */
export function trackChild(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return // the child did not start; its `error` event says why
  if (runningPids.size === 0) process.once('exit', endAll)
  runningPids.add(pid)
  child.once('exit', () => runningPids.delete(pid))
}

/**
 * Signals all processes of the group whose first process has this `pid`. Does nothing if the group
 * has ended.
 */
export function endGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // the group has ended
  }
}

function endAll(): void {
  for (const pid of runningPids) endGroup(pid, 'SIGTERM')
}
