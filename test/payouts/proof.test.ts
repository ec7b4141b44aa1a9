import { describe, expect, it } from 'vitest'
import { sameProof } from '../../src/worker/payouts/proof.ts'
import { balance, payoutRequest, send, startPaying } from './harness.ts'
import { makeKey, proofs, proven } from './proofs.ts'

const keys = { ed: await makeKey('Ed25519'), es: await makeKey('ES256') }

describe('asking for a payout', () => {
  it.each(proofs.filter(({ why }) => why === null))('takes a proof $how', async ({ make }) => {
    const service = await startPaying()
    const asked = { payouts: [payoutRequest({ ...proven, proof: await make(keys) })] }
    expect(await send(service, '', asked)).toMatchObject({ status: 200 })
  })

  it.each(proofs.flatMap((row) => (row.why === null ? [] : [{ ...row, why: row.why }])))(
    'refuses a proof $how, which no signer takes, and takes no money',
    async ({ make, why }) => {
      const service = await startPaying()
      const asked = { payouts: [payoutRequest({ ...proven, proof: await make(keys) })] }
      const { status, msg } = await send(service, '', asked)
      expect([status, msg]).toEqual([400, expect.stringMatching(/^payout 1: proof: /)])
      expect(msg).toContain(why)
      expect(await balance(service)).toBe(1_000_000_000)
    },
  )

  it('refuses a proof of more than 2,000 characters', async () => {
    const service = await startPaying()
    const proof = await keys.ed.sign(JSON.stringify(proven), { kid: 'k'.repeat(2_000) })
    expect(await send(service, '', { payouts: [payoutRequest({ ...proven, proof })] })).toMatchObject({ status: 400 })
  })
})

describe('two proofs', () => {
  it('are the same where their members are, whoever has signed them, when, and how amounts are written', async () => {
    const same = await Promise.all(proofs.filter(({ why }) => why === null).map(({ make }) => make(keys)))
    for (const one of same) expect(sameProof(same[0] ?? null, one)).toBe(true)
    expect(sameProof(null, null)).toBe(true)
  })

  it.each(proofs.filter(({ why }) => why?.startsWith('another ')))('are not where one is $how', async ({ make }) => {
    const [first, other] = [await keys.es.sign(JSON.stringify(proven)), await make(keys)]
    expect([sameProof(first, other), sameProof(other, first)]).toEqual([false, false])
  })

  it('are not where one of them is none', async () => {
    const proof = await keys.es.sign(JSON.stringify(proven))
    expect([sameProof(proof, null), sameProof(null, proof), sameProof(proof, 'a.b.c')]).toEqual([false, false, false])
  })
})
