import { AsyncLocalStorage } from 'node:async_hooks'
import type { UnixMs } from '../../src/worker/common/time.ts'
import type { Clock } from '../../src/worker/platform/clock.ts'
import type { LogFields } from '../../src/worker/platform/logger.ts'
import type { RoundTrip } from '../support/sqlite-d1.ts'
import type { Environment } from './environment.ts'

/**
 * The time during which a single invocation of a Worker, or an instance of a Durable Object with
 * all its invocations, runs.
 */
export interface Lifetime {
  /** By how much the machine's clock is ahead, in milliseconds. */
  readonly skewMs: number
  /**
   * Await this wherever the platform can end the invocation or instance. The promise never resolves
   * once the lifetime is over.
   */
  step(): Promise<void>
  isOver(): boolean
}

/** One request, one minute of the cron, or one call or alarm of an object. */
export interface Invocation {
  readonly kind: string
  /** Unique in the run. */
  readonly name: string
  /** When it began. */
  readonly begunAt: number
  readonly clock: Clock
  readonly uniqueName: () => string
  step(): Promise<void>
  /**
   * Milliseconds of the newest timer. A request sets a timer for its own time limit right before it
   * is sent, so `timerMs` is then the request's limit.
   */
  timerMs: number
  /** Work that the invocation did not wait for. */
  readonly background: Promise<unknown>[]
  /** Whether a trip to the database or a call of an object has failed. */
  platformFailed: boolean
  /** Whether a trip has failed because the database was away. */
  databaseAway: boolean
  /** Whether it has given up what it waited for, although none of its own trips has failed. */
  gaveUp: boolean
}

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

/** Draws the skew of a machine's clock, in milliseconds. */
export const drawSkew = ({ random }: Environment): number => random.int(-clockSkewMaxMs / 2, clockSkewMaxMs / 2)

/**
 * Makes a lifetime. At the scenario's rate it is over at one of its first `stepsMax` steps, as if
 * the platform or the client had ended it. It is over as well once the database was restored,
 * because the service is stopped for that.
 */
export function createLifetime(env: Environment, name: string, skewMs: number, stepsMax: number): Lifetime {
  const isKilled = env.phase === 'faults' && env.random.chance(env.scenario.rates.kill)
  let stepsLeft = isKilled ? env.random.int(1, stepsMax) : Number.POSITIVE_INFINITY
  const { restores } = env
  const isOver = () => stepsLeft <= 0 || env.restores > restores
  return {
    skewMs,
    isOver,
    async step() {
      stepsLeft -= 1
      if (!isOver()) return
      if (stepsLeft === 0) {
        env.failures.killedAt = env.scheduler.now()
        env.count(`${name.split('-')[0]} killed`)
        env.trace(() => `${name} killed`)
      }
      await new Promise(() => {})
    },
  }
}

/** Makes an invocation that ends when `lifetime` is over. */
export function createInvocation(env: Environment, kind: string, name: string, lifetime: Lifetime): Invocation {
  const { random, scheduler } = env
  let names = 0
  const invocation: Invocation = {
    kind,
    name,
    begunAt: scheduler.now(),
    timerMs: 0,
    background: [],
    platformFailed: false,
    databaseAway: false,
    gaveUp: false,
    step: lifetime.step,
    uniqueName() {
      names += 1
      return `${name}.${names}`
    },
    clock: {
      now: () => (scheduler.now() + lifetime.skewMs + env.clockMs) as UnixMs, // milliseconds since 1970
      sleep: async (ms) => {
        invocation.timerMs = ms
        await scheduler.wait(ms)
        if (lifetime.isOver()) await new Promise(() => {})
      },
      random: () => random.next(),
    },
  }
  return invocation
}

/**
 * Follows the promises of each invocation, so that a platform function finds the ports of the
 * invocation that calls it.
 */
const running = new AsyncLocalStorage<InvocationPorts>()

/** Calls the service in an invocation. */
export function runIn<T>(ports: InvocationPorts, act: () => Promise<T>): Promise<T> {
  return running.run(ports, act)
}

/**
 * The invocation that is running now. Throws where there is none: the service does no I/O outside
 * of invocations.
 */
export function currentInvocation(): InvocationPorts {
  const ports = running.getStore()
  if (ports === undefined) throw new Error('the service did I/O outside of an invocation')
  return ports
}
