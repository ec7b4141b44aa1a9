import { webhookTypes } from '../../src/worker/common/event-types.ts'
import { testSealKey } from '../archive/seal-key.ts'
import { backendSecret, testSecret } from '../support/variables.ts'
import { currencies, type Scenario, type SimulatedCurrency } from './scenario.ts'

/** The secret of every endpoint at first, and their URLs. */
const firstHookSecret = `whsec_${btoa('the secret of every endpoint')}`
const firstEndpoints = [
  'https://well.example/events',
  'https://faulty.example/events',
  'https://hanging.example/events',
]

/**
 * What the deployed configuration has, where an operator changes it over a year. A list of secrets
 * has the newest first; the second one is the previous one while it rotates.
 */
export interface Deployed {
  callerSecrets: readonly string[]
  backendSecrets: readonly string[]
  hookSecrets: readonly string[]
  sealKey: string
  endpoints: readonly string[]
  /** The `cuy` of currencies that are not in the configuration yet. */
  without: ReadonlySet<number>
  /** `EVENTS_KEEP_DAYS`; null if it is not set. */
  eventsKeepDays: number | null
  /** The key of each node, by its number, which its URLs contain. */
  nodeKeys: ReadonlyMap<number, string>
}

/** The configuration at the begin of every run. */
export const createDeployed = (): Deployed => ({
  callerSecrets: [testSecret],
  backendSecrets: [backendSecret],
  hookSecrets: [firstHookSecret],
  sealKey: testSealKey,
  endpoints: firstEndpoints,
  without: new Set(),
  eventsKeepDays: null,
  nodeKeys: new Map(),
})

/** The currencies that the configuration has. */
export const offered = ({ deployed: { without } }: { readonly deployed: Deployed }): readonly SimulatedCurrency[] =>
  without.size === 0 ? currencies : currencies.filter(({ cuy }) => !without.has(cuy))

/**
 * The variables for what an operator changes over a year, but for nodes and currencies. With a seal
 * the endpoints ask for its checkpoints, too.
 */
export function deployedVariables({
  deployed,
  scenario: { archive },
}: {
  readonly deployed: Deployed
  readonly scenario: Pick<Scenario, 'archive'>
}): Record<string, unknown> {
  const { callerSecrets, backendSecrets, hookSecrets, endpoints, eventsKeepDays, nodeKeys } = deployed
  const [callers, previousCallers] = callerSecrets
  const [backends, previousBackends] = backendSecrets
  return {
    AUTH_JWT_SECRET: callers,
    ...(previousCallers === undefined ? {} : { AUTH_JWT_SECRET_PREVIOUS: previousCallers }),
    BACKEND_JWT_SECRET: backends,
    ...(previousBackends === undefined ? {} : { BACKEND_JWT_SECRET_PREVIOUS: previousBackends }),
    WEBHOOKS: endpoints.map((url) => ({
      ...{ url, secretVar: 'HOOK_SECRET' },
      ...(archive?.sealed === true ? { types: webhookTypes } : {}),
    })),
    HOOK_SECRET: hookSecrets.join(' '),
    ...(eventsKeepDays === null ? {} : { EVENTS_KEEP_DAYS: eventsKeepDays }),
    ...Object.fromEntries([...nodeKeys].map(([number, key]) => [keyVarOf(number), key])),
  }
}

/** The name of the variable with the key of a node. */
export const keyVarOf = (number: number): string => `KEY_OF_NODE_${number}`
