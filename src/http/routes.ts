import { health } from './routes/health/route.ts'
import { ledgerAddress } from './routes/ledger-address/route.ts'
import { listLedgerEntries, postLedgerEntries } from './routes/ledger-entries/route.ts'
import { listLedgerEvents } from './routes/ledger-events/route.ts'
import { listLedgerWallets } from './routes/ledger-wallets/route.ts'
import { tronBalance } from './routes/tron-balance/route.ts'
import { tronGenerate } from './routes/tron-generate/route.ts'
import { tronRecharge } from './routes/tron-recharge/route.ts'
import { walletFlowList } from './routes/wallet-flow-list/route.ts'
import { walletList } from './routes/wallet-list/route.ts'

/** Every route for callers and for monitoring. `openapi/operations.ts` has the documentation of each. */
export const routes = [tronGenerate, tronBalance, tronRecharge, walletList, walletFlowList, health] as const

/** Every route for backends. */
export const ledgerRoutes = [
  listLedgerEntries,
  postLedgerEntries,
  listLedgerEvents,
  listLedgerWallets,
  ledgerAddress,
] as const

/** The path of a route. */
export type RoutePath = (typeof routes | typeof ledgerRoutes)[number]['path']
