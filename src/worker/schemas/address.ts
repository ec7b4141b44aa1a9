import * as schemas from './parts.ts'

/** The schema of an address that was issued to a user. */
export const issuedAddress = () =>
  schemas.object('IssuedAddress', () => ({
    id: schemas.idSchema('The address. Newer ones have higher ids.'),
    address: schemas.textSchema('As people write it.', /^T\w{33}$/),
  }))
