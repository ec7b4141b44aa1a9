/** Notifies all who wait. */
export interface Signal {
  readonly notify: () => void
  /** There is no further notification. */
  readonly close: () => void
  /** Resolves at the next notification: true, or false where there is none. */
  readonly next: () => Promise<boolean>
}

/** A signal that is not closed. */
export function createSignal(): Signal {
  let resolve: (isNotified: boolean) => void = () => undefined
  let next = Promise.resolve(false)
  const renew = () => {
    next = new Promise<boolean>((done) => {
      resolve = done
    })
  }
  renew()
  return {
    notify: () => {
      resolve(true)
      renew()
    },
    close: () => {
      resolve(false)
      next = Promise.resolve(false)
    },
    next: () => next,
  }
}
