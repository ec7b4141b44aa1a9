import { env } from 'cloudflare:workers'
import { type Config, parseConfig } from '../../src/worker/config/config.ts'
import { testVariables } from '../support/variables.ts'

const parse = (changes: Record<string, unknown>) => parseConfig({ ...testVariables(env.DB), ...changes })

/** The configuration with these variables; it must be valid. */
export function configOf(changes: Record<string, unknown> = {}): Config {
  const parsed = parse(changes)
  if (!parsed.ok) throw new Error(parsed.error.join('; '))
  return parsed.value
}

/** What is wrong with these variables. */
export function faultsOf(changes: Record<string, unknown>): readonly string[] {
  const parsed = parse(changes)
  return parsed.ok ? [] : parsed.error
}

/** The variable and member that a fault names. */
export const placeOf = (fault: string): string => fault.slice(0, fault.indexOf(':'))
