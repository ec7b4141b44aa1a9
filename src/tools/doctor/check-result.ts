/** One check as one line. `text` contains no secret, no key, no path of a URL and no text of a node. */
export interface CheckResult {
  /** Only `FAIL` makes the whole run fail. */
  readonly level: 'ok' | 'warn' | 'FAIL'
  readonly text: string
}

/** A check without a fault. */
export const passed = (text: string): CheckResult => ({ level: 'ok', text })
/** The service works, and the operator should know this. */
export const warned = (text: string): CheckResult => ({ level: 'warn', text })
/** A fault that the operator must correct. */
export const failed = (text: string): CheckResult => ({ level: 'FAIL', text })

/** The line to print. */
export function lineOf({ level, text }: CheckResult): string {
  return `${level.padEnd(4)}  ${text}`
}

/** The host of a URL: its path can contain a key. */
export function hostInUrl(url: string): string {
  return new URL(url).host
}
