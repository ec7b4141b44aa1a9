import * as z from 'zod/mini'
import { uidParam } from '../../query.ts'
import { generateQuery } from '../tron-generate/query.ts'

/** The parameters of `GET /ledger/address`. */
export const ledgerAddressQuery = z.object({ uid: uidParam(), ...generateQuery.shape })
