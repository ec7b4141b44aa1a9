import { parseWithSource } from '../common/amount.ts'
import { err, ok, type Result } from '../common/result.ts'
import { readBytes } from '../platform/read-bytes.ts'
import {
  bodyBytesMax,
  bodyCutOff,
  bodyTooDeep,
  bodyTooLarge,
  brokenBody,
  encodedBody,
  memberTwice,
  type Problem,
  wrongBody,
  wrongMediaType,
} from './errors.ts'

/** Deepest nesting of objects and lists: the body, its list, an item. */
const bodyDepthMax = 3

/**
 * Reads a JSON body without checking it. Each amount stays the text of its digits as
 * sent. Another number whose digits a double cannot keep becomes NaN, which no schema accepts. An
 * optional member that is null is left out.
 */
export async function readJsonBody(request: Request): Promise<Result<unknown, Problem>> {
  const [mediaType] = (request.headers.get('content-type') ?? '').split(';')
  if (mediaType?.trim().toLowerCase() !== 'application/json') return err(wrongMediaType)
  if (request.headers.has('content-encoding')) return err(encodedBody)
  const body = await readBody(request)
  return body.ok ? parseExactly(body.value) : body
}

/**
 * Reads the bytes of a body. If the client disconnects early, that is a refusal and not a crash of
 * the service.
 */
async function readBody(request: Request): Promise<Result<Uint8Array, Problem>> {
  try {
    const bytes = await readBytes(request.body, bodyBytesMax)
    return bytes === null ? err(bodyTooLarge) : ok(bytes)
  } catch {
    return err(bodyCutOff)
  }
}

/**
 * Reads the member `name` of a JSON body that must have no other member. The value is unchecked,
 * and undefined if the member is missing.
 */
export async function readOnlyMember(request: Request, name: string): Promise<Result<unknown, Problem>> {
  const body = await readJsonBody(request)
  if (!body.ok) return body
  const { [name]: value, ...others } = membersOfBody(body.value) ?? { wrong: body.value }
  return Object.keys(others).length === 0 ? ok(value) : err(wrongBody(name))
}

/** The members of a body, or null if it is not an object. */
function membersOfBody(body: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
  return body as Readonly<Record<string, unknown>> // safe: an object that is no array
}

/**
 * Members of requests that may be null, which counts as absent: serializers of many languages write
 * null for a member that is not set.
 */
const optionalMembers: readonly string[] = [
  ...['mark', 'fee', 'proof', 'moved', 'attempts'],
  ...['atLeast', 'until', 'take', 'return', 'why'],
]

/** Members of requests that are amounts: each stays the text of its digits. */
const amountMembers: readonly string[] = ['amt', 'fee', 'atLeast']

/**
 * Removes the `optionalMembers` that are null from an object, or from each object of a list. For
 * calls over RPC; a JSON body loses them when it is parsed.
 */
export function withoutNulls(value: unknown): unknown {
  return Array.isArray(value) ? value.map(withoutNullMembers) : withoutNullMembers(value)
}

function withoutNullMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).filter(([name, one]) => one !== null || !optionalMembers.includes(name)),
  )
}

function parseExactly(bytes: Uint8Array): Result<unknown, Problem> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    const value = parseWithSource(text, (key, value, { source }) => {
      if (value === null && optionalMembers.includes(key)) return undefined // undefined removes the member
      if (typeof value !== 'number') return value
      if (amountMembers.includes(key)) return source
      return String(value) === source?.replace(/\.0+$/, '') ? value : Number.NaN // 7.0 is a whole number, too
    })
    const fault = findFault(text)
    return fault === null ? ok(value) : err(fault)
  } catch (thrown) {
    // Not UTF-8, not JSON, or nested deeper than the parser can go.
    return err(thrown instanceof RangeError ? bodyTooDeep : brokenBody)
  }
}

/**
 * Matches the brackets of objects and lists, and each text, with its colon if it is the name of a
 * member. In valid JSON it matches nothing else.
 */
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g

/**
 * Finds what `JSON.parse` lets pass in valid JSON: too deep nesting, and two members of the same
 * name, of which it takes the last one.
 */
function findFault(json: string): Problem | null {
  const open: Set<string>[] = []
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      if (open.push(new Set()) > bodyDepthMax) return bodyTooDeep
    } else if (token === '}' || token === ']') {
      open.pop()
    } else if (colon !== undefined) {
      const names = open.at(-1)
      // parsed, because escapes can spell the same name differently
      const name: string = JSON.parse(token.slice(0, -colon.length))
      if (names?.has(name)) return memberTwice
      names?.add(name)
    }
  }
  return null
}
