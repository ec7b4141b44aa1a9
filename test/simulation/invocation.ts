import { AsyncLocalStorage } from 'node:async_hooks'
import type { UnixMs } from '../../src/common/time.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { LogFields } from '../../src/platform/logger.ts'
import type { RoundTrip } from '../support/sqlite-d1.ts'
import type { Environment } from './environment.ts'

/** One request or tick. A killed one never continues from the step at which it was killed. */
export interface Invocation {
  readonly kind: string
  /** Unique in its run. Its leases and request ids begin with it and a dot. */
  readonly name: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly clock: Clock
  readonly uniqueName: () => string
  /** To be awaited wherever the platform can end an invocation. Resolves, or never does. */
  step(): Promise<void>
  /** Whether a round trip to the database has failed. */
  databaseFailed: boolean
}

/** A request to a node. */
export type NodeFetch = (url: string, body: string) => Promise<Response>

/** A request to a node or an endpoint. */
export type AnyFetch = (url: string, init: RequestInit) => Promise<Response>

/** What the platform functions of one invocation do. */
export interface InvocationPorts {
  readonly invocation: Invocation
  readonly fetch: AnyFetch
  readonly roundTrip: RoundTrip
  /** Takes each log line: an event, or an alarm by its kind. */
  readonly log: (level: 'info' | 'warn' | 'error' | 'alarm', name: string, fields: LogFields) => void
}

/** Largest difference between the clocks of two machines, in milliseconds. */
export const clockSkewMaxMs = 1_000

/** An invocation on a machine whose clock is `skewMs` ahead. At the scenario's rate it is killed at one of its first steps. */
export function createInvocation(env: Environment, kind: string, number: number, skewMs: number): Invocation {
  const { random, scheduler, scenario } = env
  const name = `${kind}-${number}`
  const isKilled = env.phase === 'faults' && random.chance(scenario.rates.kill)
  let stepsLeft = isKilled ? random.int(1, 40) : Number.POSITIVE_INFINITY
  let names = 0
  const { restores } = env
  const isEnded = () => stepsLeft <= 0 || env.restores > restores
  return {
    kind,
    name,
    startedAt: scheduler.now(),
    databaseFailed: false,
    async step() {
      stepsLeft -= 1
      if (!isEnded()) return
      if (stepsLeft === 0) {
        env.count('invocation killed')
        env.trace(() => `${name} killed`)
      }
      await new Promise(() => {})
    },
    uniqueName() {
      names += 1
      return `${name}.${names}`
    },
    clock: {
      now: () => (scheduler.now() + skewMs) as UnixMs, // milliseconds since 1970
      sleep: async (ms) => {
        await scheduler.wait(ms)
        if (isEnded()) await new Promise(() => {})
      },
      random: () => random.next(),
    },
  }
}

/** The invocation that owns a unique name. */
export function ownerOf(uniqueName: string): string {
  return uniqueName.split('.')[0] ?? ''
}

/** Follows the promises of each invocation, so that the functions of the platform find theirs. */
const running = new AsyncLocalStorage<InvocationPorts>()

/** Calls the service in an invocation. */
export function runIn<T>(ports: InvocationPorts, act: () => Promise<T>): Promise<T> {
  return running.run(ports, act)
}

/** The invocation that is running now. Throws where there is none: the service does no I/O outside of invocations. */
export function currentInvocation(): InvocationPorts {
  const ports = running.getStore()
  if (ports === undefined) throw new Error('the service did I/O outside of an invocation')
  return ports
}
