import type { Answer } from './answers.ts'
import type { Change } from './fixture.ts'

/** What a version says of itself, and what follows from the size of its schema. */
const ownOfVersion: readonly Change[] = [
  { changelog: '', path: '/health', members: ['data.version', 'data.migration'] },
  { changelog: '', path: '/ledger/summary', members: ['data.database.bytes'] },
]

/** A sentence for each answer that is not what it was, but for what the changelog names. */
export function compareAnswers(
  before: readonly Answer[],
  after: readonly Answer[],
  changes: readonly Change[],
): readonly string[] {
  const named = [...ownOfVersion, ...changes]
  return before.flatMap((old, index) => {
    const { path, as } = old
    const [route = ''] = path.split(/\?| \[/)
    const members = named.flatMap((change) => (change.path === route ? change.members : []))
    const now = after[index]
    if (now?.path !== path || now.as !== as) throw new Error(`${path} was not asked again`)
    if (members.includes('*')) return []
    const difference = findDifference(old, now, members)
    return difference === null
      ? []
      : [`${path.startsWith('/') ? 'GET ' : ''}${path} (${as}) answers otherwise: ${difference}`]
  })
}

function findDifference(old: Answer, now: Answer, members: readonly string[]): string | null {
  if (old.status !== now.status) return `status ${now.status} (${now.body.slice(0, 200)}), not ${old.status}`
  if (old.reason !== now.reason) return `x-reason ${now.reason}, not ${old.reason}`
  if (old.body === now.body) return null
  const [before, after] = [parse(old.body), parse(now.body)]
  if (before === undefined || after === undefined) return `"${firstLine(now.body, old.body)}"`
  return differenceIn(before, after, '', members)
}

function parse(text: string): unknown {
  try {
    // numbers stay text, so that every digit is compared
    return JSON.parse(text, (_, value, context?: { readonly source?: string }) =>
      typeof value === 'number' ? (context?.source ?? value) : value,
    )
  } catch {
    return undefined // CSV
  }
}

/** The first line of a text that another one has otherwise. */
function firstLine(text: string, other: string): string {
  const lines = other.split('\n')
  return text.split('\n').find((line, index) => line !== lines[index]) ?? 'it has fewer lines'
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const written = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value))

/** The first member in which two values differ, besides `members`, in words; null if none does. */
function differenceIn(old: unknown, now: unknown, at: string, members: readonly string[]): string | null {
  if (members.includes(at.replaceAll(/\[\d+\]/g, ''))) return null
  if (!isObject(old) || !isObject(now) || Array.isArray(old) !== Array.isArray(now)) {
    return old === now ? null : `${at} is ${written(now)}, not ${written(old)}`
  }
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const path = Array.isArray(old) ? `${at}[${key}]` : [at, key].filter((one) => one !== '').join('.')
    const difference = differenceIn(old[key], now[key], path, members)
    if (difference !== null) return difference
  }
  return null
}
