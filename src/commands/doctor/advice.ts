import { configurationAdvice } from '../target.ts'

/** The beginning of the doctor's line if stored data could not be read. */
export const notCompared = 'stored data: not compared with the configuration'
/** The end of the doctor's line about a setting without a value. */
export const notSet = '(it is not set)'

/** The remedies for failed checks, by the first word of the line. */
const advice: Readonly<Record<string, string>> = {
  configuration: configurationAdvice,
  database: 'put the database_id there that "npx wrangler d1 create <name>" prints, with binding = "DB"',
  objects: 'take these sections over from the wrangler.toml that is delivered',
  key: 'make a key of your own: "npm run keys -- new" prints the TRON_XPUB for it',
  authentication:
    'set AUTH_JWT_SECRET or AUTH_JWKS_URL so that the check passes; docs/integrate.md, "Tokens", says what they are',
  backends:
    'set BACKEND_JWT_SECRET or BACKEND_JWKS_URL so that the check passes; docs/guides/backends.md says what they are',
  desk: 'correct team in DESK_ACCESS: the keys are at https://<team>.cloudflareaccess.com/cdn-cgi/access/certs',
  operators:
    'remove it from OPERATOR_ADDRESSES: only wallets of your own belong there, which the service has not issued',
  webhook: 'correct its URL, its secret or the receiver, and run the doctor with --webhooks again',
  node: 'correct the URLs or the key of this node in TRON_NODES (or the clock of this machine, if the line says so), or name another node there',
  quorum: 'repair or replace nodes in TRON_NODES until enough are usable',
  stored:
    'set back what differs, or use the database that belongs to this configuration; docs/operate.md, configuration-differs',
  addresses: 'restore the database of this key, or set TRON_FIRST_INDEX above every index that was used',
  token: 'compare its contract and decimals in CURRENCIES with an explorer, and correct them',
}

/**
 * The remedy for a failed check, without its full stop. A word that is not in the table is the name
 * of a setting.
 */
export function adviceFor(text: string): string {
  if (text.startsWith(notCompared)) return 'do what the end of that line says, and run the doctor again'
  const [word = ''] = /^\w+/.exec(text) ?? []
  if (text.endsWith(notSet)) {
    return `set ${word}: a secret in the file of secrets (.dev.vars.production or .dev.vars.<environment>, copied from .dev.vars.example), a variable in wrangler.toml`
  }
  return (
    advice[word] ??
    `correct ${/^[A-Z_]+$/.test(word) ? word : 'this setting'}; docs/guides/settings.md says what each takes`
  )
}
