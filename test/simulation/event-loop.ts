/**
 * How many operations are running that end in a turn of the event loop, not as a microtask:
 * WebCrypto, and reading bodies of requests and responses.
 */
let open = 0

/**
 * Counts an operation that may end on the event loop. Virtual time does not pass until it has
 * ended.
 */
export async function trackOperation<T>(operation: Promise<T>): Promise<T> {
  open += 1
  try {
    return await operation
  } finally {
    open -= 1
  }
}

/**
 * Resolves when nothing is left that can settle before virtual time passes. Waiting with
 * `process.nextTick` until all microtasks have run takes a tenth of the time of a turn of the event
 * loop. Turns are waited for only while tracked operations run.
 */
export async function settled(): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => process.nextTick(resolve))
    if (open === 0) return
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/**
 * Counts every WebCrypto operation of this process. Operations run one after the other, because
 * threads would finish them in an order that no seed decides. Imported secrets and verified
 * signatures are kept, because runs use the same few tokens again and again.
 */
function trackWebCrypto(): void {
  const { subtle } = crypto
  const kept = new Map<string, unknown>()
  const keyIds = new Map<unknown, number>()
  const spell = (value: unknown): string => {
    if (value instanceof CryptoKey) return `key ${keyIds.get(value)}`
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : JSON.stringify(value)
  }
  let previous: Promise<unknown> = Promise.resolve()
  for (const name of ['digest', 'importKey', 'exportKey', 'sign', 'verify'] as const) {
    // safe: parameters are passed on as they come
    const operate = subtle[name].bind(subtle) as (...parameters: unknown[]) => Promise<unknown>
    const tracked = (...parameters: unknown[]) => {
      const what = `${name} ${parameters.map(spell).join('\n')}`
      // A kept result also takes a turn of the event loop, so that a seed does the same whether or
      // not an earlier run has kept the result.
      const operation = kept.has(what)
        ? previous.then(() => new Promise((resolve) => setImmediate(() => resolve(kept.get(what)))))
        : previous.then(() => operate(...parameters))
      previous = operation.catch(() => undefined)
      const keep = (result: unknown) => {
        if (result instanceof CryptoKey && !keyIds.has(result)) keyIds.set(result, keyIds.size)
        if (name === 'importKey' || name === 'verify') kept.set(what, result)
        return result
      }
      return trackOperation(operation.then(keep))
    }
    Object.defineProperty(subtle, name, { value: tracked })
  }
}

trackWebCrypto()
