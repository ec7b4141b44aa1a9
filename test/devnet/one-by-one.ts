/** The function, whose calls wait for those before them. Their callers get their errors; the next call begins all the same. */
export function oneByOne<Given extends unknown[], T>(run: (...given: Given) => Promise<T>): typeof run {
  let last: Promise<unknown> = Promise.resolve()
  return (...given) => {
    const next = last.then(() => run(...given))
    last = next.catch(() => undefined)
    return next
  }
}
