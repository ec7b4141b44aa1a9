import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isComplete, reportLines } from '../../../src/commands/collect/tables.ts'
import { parseConfig } from '../../../src/worker/config/config.ts'
import { bindingsFor, type CollectChain, startCollectChain, type Through, unwrap } from './harness.ts'
import { minedCounts, resultsOf, twoUsers } from './send-harness.ts'

let chain: CollectChain

beforeEach(async () => {
  chain = await startCollectChain()
})
afterEach(() => chain.stop())

/**
 * Two nodes of the test's chain that must agree. `change` alters what the second node answers about
 * transactions.
 */
function twoNodes(change: (reply: object) => object): Through {
  const { rpcUrl, apiUrl } = chain.devnet
  const nodes = ['https://a.example', 'https://b.example'].map((host) => ({ rpc: `${host}/jsonrpc`, api: host }))
  const config = unwrap(parseConfig({ ...bindingsFor(chain.devnet), TRON_NODES: nodes, TRON_QUORUM: 2 }))
  const routed: typeof fetch = async (url, init) => {
    const { origin, pathname } = new URL(String(url))
    const answer = await fetch(pathname === '/jsonrpc' ? rpcUrl : `${apiUrl}${pathname}`, init)
    const isChanged = origin === 'https://b.example' && pathname.endsWith('/gettransactioninfobyid')
    return isChanged ? new Response(JSON.stringify(change((await answer.json()) as object))) : answer
  }
  return { config, fetch: routed }
}

describe('a run after another one', () => {
  it('says that it is not known what is done, and by which node, while a node is behind or has no history', async () => {
    const signed = await twoUsers(chain)
    await chain.send(signed)
    const { outcome, states } = await chain.send(
      signed,
      twoNodes(() => ({})),
    )
    expect(outcome).toMatchObject({
      kind: 'interrupted',
      why: expect.stringMatching(/gettransactioninfobyid: node 1 says in block \d+, node 2 says in no block$/),
    })
    const report = reportLines(signed.plan, states, outcome)
    expect(report.filter((line) => /^\d /.test(line) && line.includes('not known'))).toHaveLength(
      signed.plan.steps.length,
    )
    expect(report.join('\n')).not.toMatch(/not sent|new plan/)
    const later = await chain.send(
      signed,
      twoNodes((reply) => reply),
    )
    expect([later.outcome.kind, isComplete(signed.plan, later.states)]).toEqual(['settled', true])
    expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
  })

  it('does not report a transfer as not sent that stays pending for more than four looks', async () => {
    const signed = await twoUsers(chain)
    await chain.send(signed)
    // The nodes answer as if they had executed the transfers but did not show the block yet.
    const pending = signed.plan.steps.filter(({ kind }) => kind === 'transfer').map(({ txid }) => txid)
    const hiding: typeof fetch = async (url, init) =>
      pending.some((txid) => String(url).endsWith('/gettransactioninfobyid') && String(init?.body).includes(txid))
        ? new Response('{}')
        : fetch(url, init)
    const { outcome, states } = await chain.send(signed, { fetch: hiding })
    expect(resultsOf(signed.plan, states)[1]).toMatch(/^2 transfer: unknown/)
    const report = reportLines(signed.plan, states, outcome)
    expect(report[2]).toMatch(/ not known /)
    expect(report.at(-1)).toBe(
      `Ended. Until ${signed.plan.expiresAt} the rest can still come into a block, if an earlier run has sent it. ` +
        'Run the same command again after that: it says then what a new plan is needed for.',
    )
    expect(report.join('\n')).not.toContain('make a new plan')
    const later = await chain.send(signed)
    expect(isComplete(signed.plan, later.states)).toBe(true)
  })

  it('finds a transfer that comes into a block after it was given up, and goes on with what needs it', async () => {
    const signed = await twoUsers(chain)
    await chain.send(signed)
    const [, transfer] = signed.plan.steps
    let looks = 0
    const late: typeof fetch = async (url, init) =>
      looks < 6 && String(url).endsWith('/gettransactioninfobyid') && String(init?.body).includes(transfer?.txid ?? '')
        ? new Response('{}')
        : fetch(url, init)
    const onLook = async () => {
      looks += 1
    }
    // The last step of the second user is hidden for three looks longer, so that the run does not
    // end before it can find the transfer.
    const last = signed.plan.steps.at(-1)?.txid ?? ''
    const later: typeof fetch = async (url, init) =>
      looks < 9 && String(url).endsWith('/gettransactioninfobyid') && String(init?.body).includes(last)
        ? new Response('{}')
        : late(url, init)
    const { outcome, states } = await chain.send(signed, { fetch: later, onLook })
    expect([outcome.kind, isComplete(signed.plan, states)]).toEqual(['settled', true])
  })
})
