/** Random numbers from a seed: the same seed gives the same run. */
export interface Random {
  /** Evenly spread in [0, 1). */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/**
 * The generator sfc32 by Chris Doty-Humphrey (PractRand, public domain). Its first twelve rounds
 * mix the seed.
 */
export function createRandom(seed: number): Random {
  let a = Math.floor(seed / 2 ** 32) >>> 0
  let b = seed >>> 0
  let c = 0x9e3779b9
  let counter = 1
  const bits = () => {
    const sum = (a + b + counter) >>> 0
    counter = (counter + 1) >>> 0
    a = (b ^ (b >>> 9)) >>> 0
    b = (c + (c << 3)) >>> 0
    c = (((c << 21) | (c >>> 11)) + sum) >>> 0
    return sum
  }
  for (let i = 0; i < 12; i += 1) bits()
  const next = () => bits() / 2 ** 32
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new Error('nothing to pick from')
      return list[int(0, list.length - 1)] as (typeof list)[number] // safe: the index is below the length
    },
  }
}
