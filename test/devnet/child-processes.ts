import type { ChildProcess } from 'node:child_process'

const live = new Set<number>()

/**
 * Remembers a child that was started in a process group of its own, so that it ends with this process however that ends
 * (short of SIGKILL): also in the middle of a start, when nobody holds it yet.
 */
export function trackChild(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return // it did not start: its `error` event says why
  if (live.size === 0) process.once('exit', endAll)
  live.add(pid)
  child.once('exit', () => live.delete(pid))
}

function endAll(): void {
  for (const pid of live) endGroup(pid, 'SIGTERM')
}

/** Signals a child and all that it has started. A no-op where nothing is left of it. */
export function endGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // nothing is left of it
  }
}
