import { env } from 'cloudflare:workers'
import { type Config, parseConfig } from '../../src/worker/config/config.ts'
import { testVariables } from '../support/variables.ts'

const parse = (changes: Record<string, unknown>) => parseConfig({ ...testVariables(env.DB), ...changes })

/** Parses the test variables with `changes`. Throws if the result is not valid. */
export function configOf(changes: Record<string, unknown> = {}): Config {
  const parsed = parse(changes)
  if (!parsed.ok) throw new Error(parsed.error.join('; '))
  return parsed.value
}

/** The faults of the test variables with `changes`, as sentences `NAME.member: what is wrong`; empty if there are none. */
export function faultsOf(changes: Record<string, unknown>): readonly string[] {
  const parsed = parse(changes)
  return parsed.ok ? [] : parsed.error
}

/** The variable and member that a fault is about: its text before the colon. */
export const placeOf = (fault: string): string => fault.slice(0, fault.indexOf(':'))
