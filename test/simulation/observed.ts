import type { Environment } from './environment.ts'

/** The states that a part of the database has had since the observation began. */
export interface Observed<T> {
  /** Ends the observation, and returns each state since its beginning. */
  end(): readonly T[]
}

/**
 * Reads a part of the database now and after each write. An answer that is read in one trip must
 * equal the state at some moment between its request and its end.
 */
export function observe<T>({ observers }: Environment, read: () => T): Observed<T> {
  const states = [read()]
  const observer = () => {
    states.push(read())
  }
  observers.add(observer)
  return {
    end() {
      observers.delete(observer)
      return states
    },
  }
}
