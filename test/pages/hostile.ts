/** A text that runs where it is taken for markup. */
export const hostile = '<img src=x onerror="alert(1)"><script>alert(1)</script>'

/** The value with one leaf after the other replaced by a hostile text, and by values of other kinds. */
export function variants(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const [first, ...rest] = value
    return [...variants(first).map((one) => [one, ...rest]), hostile]
  }
  if (typeof value !== 'object' || value === null) return [hostile, null]
  return Object.entries(value).flatMap(([key, member]) => variants(member).map((one) => ({ ...value, [key]: one })))
}
