/** How one check came out. Only `FAIL` makes the whole run fail. */
export type Level = 'ok' | 'warn' | 'FAIL'

/** One check in one line. Its text is in our own words: never a secret, a key, a path of a URL or a node's text. */
export interface CheckResult {
  readonly level: Level
  readonly text: string
}

/** All is as it should be. */
export const passed = (text: string): CheckResult => ({ level: 'ok', text })
/** It works, and somebody should know this. */
export const warned = (text: string): CheckResult => ({ level: 'warn', text })
/** It must be mended. */
export const failed = (text: string): CheckResult => ({ level: 'FAIL', text })

/** The line that a person reads. */
export function lineOf({ level, text }: CheckResult): string {
  return `${level.padEnd(4)}  ${text}`
}

/** The last line: green, or how many checks failed. */
export function summaryOf(findings: readonly CheckResult[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length
  const failed = count('FAIL')
  const warnings = count('warn') === 1 ? '1 warning' : `${count('warn')} warnings`
  if (failed === 0) return `Green: ${count('ok')} checks passed, ${warnings}.`
  return `Not green: ${failed} of ${findings.length} checks failed, ${warnings}.`
}

/** Where a URL leads, without its path, in which providers put keys. */
export function hostOf(url: string): string {
  return new URL(url).host
}
