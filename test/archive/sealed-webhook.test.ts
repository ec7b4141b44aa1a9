import { expect, it } from 'vitest'
import { oneEndpoint } from '../http/service.ts'
import { archive, startArchived } from './harness.ts'
import { testSealKey } from './seal-key.ts'

it('sends each new checkpoint to an endpoint that names ledger.sealed, and the feed has none', async () => {
  const [endpoint] = oneEndpoint.WEBHOOKS
  const service = await startArchived({
    ...oneEndpoint,
    WEBHOOKS: [{ ...endpoint, types: ['ledger.sealed'] }],
    SEAL_KEY: testSealKey,
  })
  await service.tick()
  const newest = async () => (await (await service.ledger('/ledger/checkpoint')).json<{ data: object }>()).data
  const sent = []
  for (const osn of ['a', 'b']) {
    await service.post([{ uid: 7, cuy: 2, type: 5, osn, amt: '1' }])
    await archive(service)
    await service.deliver()
    sent.push(await newest())
  }
  const bodies = service.hooks.map(({ body }) => JSON.parse(body) as { type: string; data: object })
  expect(bodies.slice(-2)).toEqual(sent.map((data) => ({ type: 'ledger.sealed', data })))
  const { data } = await (await service.ledger('/ledger/events?after=0')).json<{ data: { list: { type: string }[] } }>()
  expect(data.list.map(({ type }) => type)).toEqual(['entry.posted', 'entry.posted'])
})
