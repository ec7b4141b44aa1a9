/**
 * Wraps a function so that each call waits for the calls before it. An error goes to the caller of
 * its call alone; the next call begins all the same.
 */
export function oneByOne<Given extends unknown[], T>(run: (...given: Given) => Promise<T>): typeof run {
  let last: Promise<unknown> = Promise.resolve()
  return (...given) => {
    const next = last.then(() => run(...given))
    last = next.catch(() => undefined)
    return next
  }
}
