/** A text that runs code if a page takes it for HTML. */
export const hostile = '<img src=x onerror="alert(1)"><script>alert(1)</script>'

/**
 * Copies of a value, in each of which one leaf is replaced: by a hostile text, or by a value of
 * another kind.
 */
export function variants(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const [first, ...rest] = value
    return [...variants(first).map((one) => [one, ...rest]), hostile]
  }
  if (typeof value !== 'object' || value === null) return [hostile, null]
  return Object.entries(value).flatMap(([key, member]) => variants(member).map((one) => ({ ...value, [key]: one })))
}
