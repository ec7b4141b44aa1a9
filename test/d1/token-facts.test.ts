import { expect, it } from 'vitest'
import { createTokenFacts } from '../../src/d1/token-facts.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, ms } from './fixtures.ts'

it('stores the decimals of each contract', async () => {
  const tokenFacts = createTokenFacts(await freshDatabase())
  expect(await tokenFacts.decimals(addressAt(5))).toBeNull()
  await tokenFacts.storeDecimals(addressAt(5), 0, ms(1000))
  expect(await tokenFacts.decimals(addressAt(5))).toBe(0)
  await tokenFacts.storeDecimals(addressAt(5), 18, ms(2000))
  expect(await tokenFacts.decimals(addressAt(5))).toBe(18)
  expect(await tokenFacts.decimals(addressAt(6))).toBeNull()
})
