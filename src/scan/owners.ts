import { type AddressOwner, matchAddresses } from '../addresses/address-book.ts'
import type { Address } from '../chain/address.ts'
import type { MatchOwn } from '../chain/chain.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { Owners } from '../deposits/judge.ts'

/** The owners of the addresses that one read of the chain has looked up. */
export interface FoundOwners {
  /** Looks addresses up, and keeps their owners. */
  readonly match: MatchOwn
  readonly owners: Owners
}

/** Looks addresses up in the database, so that each one that was issued before is found. */
export function createOwners(db: ReadDatabase): FoundOwners {
  const owners = new Map<Address, AddressOwner>()
  return {
    owners,
    async match(addresses) {
      const found = await matchAddresses(db, addresses)
      for (const [address, owner] of found) owners.set(address, owner)
      return new Set(found.keys())
    },
  }
}
