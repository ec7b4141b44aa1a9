import { describe, expect, it } from 'vitest'
import { type AlarmRule, alarmTable, unobservedKinds } from '../../src/worker/platform/alarm-table.ts'

declare global {
  interface ImportMeta {
    /** Vite's `import.meta.glob`, typed for `query: '?raw'`: the text of each file by its path. */
    glob(
      pattern: string,
      options: { readonly eager: true; readonly import: 'default'; readonly query: '?raw' },
    ): Readonly<Record<string, string>>
  }
}

const sources = import.meta.glob('../../src/**/*.ts', { query: '?raw', eager: true, import: 'default' })
const kinds = Object.keys(alarmTable)

describe('the table of alarms', () => {
  it.each(kinds)('has a kind %s that something raises', (kind) => {
    const raisers = Object.entries(sources).filter(
      ([file, text]) => !file.endsWith('/alarm-table.ts') && new RegExp(`['"\`]${kind}['"\`]`).test(text),
    )
    expect(raisers.map(([file]) => file)).not.toEqual([])
  })

  it('has every kind that something raises', () => {
    const raised = Object.entries(sources).flatMap(([file, text]) =>
      [...text.matchAll(/(?:alarms?\.raise|\braise|logger\.alarm|\breport)\(\s*'([^']+)'/g)].map((match) => ({
        file,
        kind: match[1] ?? '',
      })),
    )
    expect(raised.length).toBeGreaterThan(5)
    expect(raised.filter(({ kind }) => !kinds.includes(kind))).toEqual([])
  })

  it.each(Object.entries(alarmTable))('says of %s when it is raised and what to do, in sentences', (_, rule) => {
    const { needsLine, raised, ends = raised, remedy }: AlarmRule = rule
    for (const text of [raised, ends, remedy]) expect(text).toMatch(/^[A-Z`].*\.$/)
    expect(needsLine === true).toBe(/\bthe log line\b/i.test(rule.remedy))
  })

  it('says when an alarm ends, except for what can only be observed while it lasts', () => {
    expect(unobservedKinds).toEqual(
      new Set([
        ...['allowance-used-up', 'corrected-credit', 'deposit-too-large', 'event-set-aside'],
        ...['node-lies', 'node-unfit', 'nodes-disagree', 'paid-before-issue', 'transaction-unreadable'],
      ]),
    )
  })
})
