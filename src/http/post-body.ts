import { err, ok, type Result } from '../common/result.ts'
import { readBytes } from '../platform/read-bytes.ts'
import {
  bodyBytesMax,
  bodyTooLarge,
  brokenBody,
  nestedBody,
  type Problem,
  wrongBody,
  wrongMediaType,
} from './errors.ts'

/** Levels of nested objects and arrays: the body, its list, an entry. */
const depthMax = 3

/** The member `entries` of a JSON body, unchecked. Its amounts are texts, digit by digit as they were sent. */
export async function readEntries(request: Request): Promise<Result<unknown, Problem>> {
  const [mediaType] = (request.headers.get('content-type') ?? '').split(';')
  if (mediaType?.trim().toLowerCase() !== 'application/json') return err(wrongMediaType)
  const bytes = await readBytes(request.body, bodyBytesMax)
  if (bytes === null) return err(bodyTooLarge)
  const text = decode(bytes)
  if (text === null) return err(brokenBody)
  if (depthOf(text) > depthMax) return err(nestedBody) // before it is parsed: the parser calls itself at each level
  const body = parseExactly(text)
  if (!body.ok) return err(brokenBody)
  if (typeof body.value !== 'object' || body.value === null || Array.isArray(body.value)) return err(wrongBody)
  const { entries, ...others } = body.value as { readonly entries?: unknown } // safe: an object that is no array
  return Object.keys(others).length === 0 ? ok(entries) : err(wrongBody)
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return null // not UTF-8
  }
}

/** The deepest level of nested objects and arrays; texts are skipped. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]
    if (isText && character === '\\') i += 1
    else if (character === '"') isText = !isText
    else if (!isText && (character === '{' || character === '[')) deepest = Math.max(deepest, ++depth)
    else if (!isText && (character === '}' || character === ']')) depth -= 1
  }
  return deepest
}

/** TC39 source text access, which TypeScript does not have yet. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/** JSON with each `amt` as its text. A number with other digits than its double is NaN, which no member accepts. */
function parseExactly(text: string): Result<unknown, 'not-json'> {
  try {
    const parse = JSON.parse as ParseWithSource
    return ok(
      parse(text, (key, value, { source }) => {
        if (typeof value !== 'number') return value
        if (key === 'amt') return source
        return String(value) === source ? value : Number.NaN
      }),
    )
  } catch {
    return err('not-json')
  }
}
