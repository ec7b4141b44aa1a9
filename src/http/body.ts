import { err, ok, type Result } from '../common/result.ts'
import { readBytes } from '../platform/read-bytes.ts'
import { bodyBytesMax, bodyTooLarge, brokenBody, type Problem, wrongMediaType } from './errors.ts'

/** The value of a JSON body, unchecked. Its amounts (`amt`, `fee`) are texts, digit by digit as they were sent. */
export async function readJsonBody(request: Request): Promise<Result<unknown, Problem>> {
  const [mediaType] = (request.headers.get('content-type') ?? '').split(';')
  if (mediaType?.trim().toLowerCase() !== 'application/json') return err(wrongMediaType)
  const bytes = await readBytes(request.body, bodyBytesMax)
  return bytes === null ? err(bodyTooLarge) : parseExactly(bytes)
}

/** The members of a body, or null if it is no object. */
export function membersOfBody(body: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
  return body as Readonly<Record<string, unknown>> // safe: an object that is no array
}

/** TC39 source text access, which TypeScript does not have yet. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/** JSON with each amount as its text. A number with other digits than its double is NaN, which no member accepts. */
function parseExactly(bytes: Uint8Array): Result<unknown, Problem> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    const parse = JSON.parse as ParseWithSource
    return ok(
      parse(text, (key, value, { source }) => {
        if (typeof value !== 'number') return value
        if (key === 'amt' || key === 'fee') return source
        return String(value) === source ? value : Number.NaN
      }),
    )
  } catch {
    return err(brokenBody) // not UTF-8, not JSON, or nested deeper than the parser can go
  }
}
