import { answerCall, type NodeState } from '../support/node-methods.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import type { NodeAnswers } from './node-answers.ts'
import { buildScenario, type ScenarioOptions, unconfirmedBlocks } from './scenarios.ts'

/** Answers with the blocks of a scenario, by the same code as the node of the tests. */
export function createScenarioNode(options: ScenarioOptions): NodeAnswers {
  const state: NodeState = {
    chain: buildScenario(options),
    version: 'TRON/v4.8.1/Linux/Java1.8',
    behind: 0,
    finalityLag: unconfirmedBlocks,
    supportsFinalized: true,
    hasHistory: true,
    logsMax: 10_000,
    balances: new Map(),
    activated: new Set(),
    decimals: new Map([[usdtAddress, 6]]),
    unmined: new Map(),
  }
  return {
    finalize(height) {
      state.behind = state.chain.tip().height - unconfirmedBlocks - height
    },
    member: (call) => [JSON.stringify(answerCall(state, call)).slice(1, -1)],
    api(body) {
      const response = answerCall(state, { id: null, method: 'api', params: [body] })
      return JSON.stringify('result' in response ? response.result : {})
    },
  }
}
