import { parseJson } from '../../src/worker/common/result.ts'

/**
 * What a start adds to the developer's own settings. A port or shop is null if the settings fit as
 * they are.
 */
export interface LocalAdditions {
  /** The base URL of the chain's HTTP API, if it is not the usual one. */
  readonly chain: string | null
  /** The URL of the receiver of events, if it is not the usual one. */
  readonly receiver: string | null
  /** The origin of the pretend shop, which frames the deposit page. */
  readonly shop: string | null
}

/**
 * The addresses in `test/devnet/dev.vars` of the chain and of the receiver that `npm start` runs.
 */
export const usualAddresses = { chain: 'http://127.0.0.1:9090', receiver: 'http://127.0.0.1:8790' } as const

/**
 * The variables that a start changes, by name: the developer's own values with what the start adds.
 * An own node, endpoint or origin is kept. A value that is no JSON list is kept as it is, because
 * the service says what is wrong with it. `read` reads a variable of `.dev.vars`.
 */
export function findOverrides(
  { chain, receiver, shop }: LocalAdditions,
  read: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
  const changes: Record<string, string> = {}
  const change = (name: string, make: (own: readonly unknown[]) => readonly unknown[]) => {
    const text = read(name) ?? '[]'
    const own = parseJson(text)
    if (!Array.isArray(own)) return
    const made = JSON.stringify(make(own))
    if (made !== JSON.stringify(own)) changes[name] = made
  }
  const moved = (own: readonly unknown[], from: string, to: string) =>
    // safe: only the texts in it change
    JSON.parse(JSON.stringify(own).replaceAll(`"${from}`, `"${to}`)) as readonly unknown[]
  if (chain !== null) change('TRON_NODES', (own) => moved(own, usualAddresses.chain, chain))
  if (receiver !== null) change('WEBHOOKS', (own) => moved(own, usualAddresses.receiver, receiver))
  if (shop !== null) change('PAGE_ORIGINS', (own) => [...new Set([...own, shop])])
  return changes
}

/**
 * One line for each variable of `.dev.vars` that has another value in this run. A variable that the
 * file lacks is no setting of the developer.
 */
export const overrideLines = (
  changes: Readonly<Record<string, string>>,
  read: (name: string) => string | undefined,
): readonly string[] =>
  Object.entries(changes).flatMap(([name, value]) =>
    read(name) === undefined ? [] : [`${name} of .dev.vars is ${value} in this run`],
  )
