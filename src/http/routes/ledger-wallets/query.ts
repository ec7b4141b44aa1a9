import * as z from 'zod/mini'
import { uidParam } from '../../query.ts'

/** The parameters of `GET /ledger/wallets`. */
export const ledgerWalletsQuery = z.object({ uid: uidParam() })
