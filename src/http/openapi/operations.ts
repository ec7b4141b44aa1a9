import { healthOperation } from '../routes/health/docs.ts'
import { tronBalanceOperation } from '../routes/tron-balance/docs.ts'
import { tronGenerateOperation } from '../routes/tron-generate/docs.ts'
import { tronRechargeOperation } from '../routes/tron-recharge/docs.ts'
import { walletFlowListOperation } from '../routes/wallet-flow-list/docs.ts'
import { walletListOperation } from '../routes/wallet-list/docs.ts'
import type { RoutePath } from '../routes.ts'
import type { Operation } from './operation.ts'

/** The documentation of every route. It is a list of its own so that the Worker does not contain it. */
export const operations = {
  '/tron/generate': tronGenerateOperation,
  '/tron/balance': tronBalanceOperation,
  '/tron/recharge': tronRechargeOperation,
  '/wallet/list': walletListOperation,
  '/wallet/flow/list': walletFlowListOperation,
  '/health': healthOperation,
} satisfies Record<RoutePath, Operation>
