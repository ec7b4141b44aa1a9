import { health } from './routes/health.ts'
import { ledgerAddress } from './routes/ledger-address.ts'
import { ledgerEntries } from './routes/ledger-entries.ts'
import { ledgerEvents } from './routes/ledger-events.ts'
import { ledgerWallets } from './routes/ledger-wallets.ts'
import { postLedgerEntries } from './routes/post-ledger-entries.ts'
import { tronBalance } from './routes/tron-balance.ts'
import { tronGenerate } from './routes/tron-generate.ts'
import { tronRecharge } from './routes/tron-recharge.ts'
import { walletFlowList } from './routes/wallet-flow-list.ts'
import { walletList } from './routes/wallet-list.ts'

/** Every route for callers and for monitoring. `openapi/operations.ts` has the documentation of each. */
export const routes = [tronGenerate, tronBalance, tronRecharge, walletList, walletFlowList, health] as const

/** Every route for backends. */
export const ledgerRoutes = [ledgerEntries, postLedgerEntries, ledgerEvents, ledgerWallets, ledgerAddress] as const

/** The path of a route. */
export type RoutePath = (typeof routes | typeof ledgerRoutes)[number]['path']
