import { env } from 'cloudflare:workers'
import { type Config, parseConfig } from '../../src/worker/config/config.ts'
import { testVariables } from '../support/variables.ts'

const parse = (changes: Record<string, unknown>) => parseConfig({ ...testVariables(env.DB), ...changes })

/** Parses the usual variables of tests with `changes`. Throws if they are not valid. */
export function configOf(changes: Record<string, unknown> = {}): Config {
  const parsed = parse(changes)
  if (!parsed.ok) throw new Error(parsed.error.join('; '))
  return parsed.value
}

/**
 * The faults of the usual variables of tests with `changes`, as sentences
 * `NAME.member: what it must be`; empty if there are none.
 */
export function faultsOf(changes: Record<string, unknown>): readonly string[] {
  const parsed = parse(changes)
  return parsed.ok ? [] : parsed.error
}

/** The variable and member that a fault of `faultsOf` is about: the text before its colon. */
export const placeOf = (fault: string): string => fault.slice(0, fault.indexOf(':'))
