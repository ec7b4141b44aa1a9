import { describe, expect, it } from 'vitest'
import { type Fact, findStop, isStoppedByFork, mayGoOn } from '../../src/worker/ledger/stops.ts'
import { facts, mayGoOnBy, steps } from '../support/contract-11.ts'

describe('the table of facts and steps', () => {
  it('has the facts and the steps of the contract, and no others', () => {
    expect(Object.keys(mayGoOn)).toEqual(facts)
    for (const fact of facts) expect(Object.keys(mayGoOn[fact])).toEqual(steps)
  })

  it.each(facts)('says of each step while %s what the contract says', (fact) => {
    const said = Object.fromEntries(steps.map((step) => [step, mayGoOnBy(fact, step)]))
    expect(mayGoOn[fact]).toEqual(said)
  })
})

describe('what is told', () => {
  const known = (...held: readonly Fact[]) =>
    Object.fromEntries(facts.map((fact) => [fact, held.includes(fact)])) as Readonly<Record<Fact, boolean>>

  it('is nothing where no fact holds, or where none that holds stops the step', () => {
    for (const step of steps) expect(findStop(step, known())).toBeNull()
    expect(findStop('take', known('unknown-transaction', 'retired'))).toBeNull()
  })

  it('is each fact that stops a step, by itself', () => {
    for (const fact of facts)
      for (const step of steps) expect(findStop(step, known(fact))).toBe(mayGoOnBy(fact, step) ? null : fact)
  })

  it('is the first fact of the table that stops the step, in whatever order they are known', () => {
    expect(findStop('cancel', known('paused', 'unknown-transaction'))).toBe('unknown-transaction')
    expect(findStop('offer', known(...facts))).toBe('forked')
    expect(findStop('credit', known('decimals-unknown', 'retired'))).toBe('retired')
  })

  it('of a fork is what stops a deposit', () => {
    expect(isStoppedByFork(true, 'find')).toBe(true)
    expect(isStoppedByFork(true, 'refuse')).toBe(false)
    expect(isStoppedByFork(false, 'credit')).toBe(false)
  })
})
