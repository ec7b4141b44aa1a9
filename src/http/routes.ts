import { health } from './routes/health/route.ts'
import { tronBalance } from './routes/tron-balance/route.ts'
import { tronGenerate } from './routes/tron-generate/route.ts'
import { tronRecharge } from './routes/tron-recharge/route.ts'
import { walletFlowList } from './routes/wallet-flow-list/route.ts'
import { walletList } from './routes/wallet-list/route.ts'

/** Every route of the service. `openapi/operations.ts` has the documentation of each. */
export const routes = [tronGenerate, tronBalance, tronRecharge, walletList, walletFlowList, health] as const

/** The path of a route. */
export type RoutePath = (typeof routes)[number]['path']
