import { describe, expect, test } from 'vitest'
import { stoppedAfterMs } from '../../../src/scan/health.ts'
import { appWith, read } from '../app-harness.ts'
import { startService } from '../service.ts'

const where = { scanned: 70, finalized: 100, behind: 30 }

describe('GET /health', () => {
  test('needs no token and no node, and says from stored state how far the scan is', async () => {
    const service = await startService()
    await service.get('/tron/generate')
    await service.tick()
    const asked = service.nodes.map((node) => node.requests.length)
    const { status, body } = await read(await service.get('/health', null))
    const height = service.chain.tip().height - 18
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        code: 200,
        msg: 'success: 2 nodes agree',
        data: { status: 'ok', scanned: height, finalized: height, behind: 0 },
      },
    })
    expect(service.nodes.map((node) => node.requests.length)).toEqual(asked)
  })

  test('is 503 with its data where the scan has not advanced for too long', async () => {
    const service = await startService()
    await service.get('/tron/generate')
    await service.tick()
    service.clock.seconds += stoppedAfterMs / 1000 + 1
    const { status, body } = await read(await service.get('/health', null))
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 503, data: { status: 'stopped' } } })
    expect(String((body as { msg: string }).msg)).toMatch(/^the scan has not advanced for 18\d s$/)
  })

  test.each([
    ['ok', true, 200, 'success: all is well'],
    ['behind', true, 200, 'success: all is well'],
    ['behind', false, 503, 'all is well'],
    ['stopped', false, 503, 'all is well'],
    ['stopped', true, 503, 'all is well'],
  ] as const)('with status %s, healthy %s, is %d', async (status, healthy, code, msg) => {
    const { get } = appWith({
      readHealth: () => Promise.resolve({ ...where, status, healthy, msg: 'all is well' }),
      authenticate: () => Promise.reject(new Error('nobody asks who is there')),
    })
    expect(await read(await get('/health'))).toEqual({
      status: code,
      body: { code, msg, data: { status, ...where } },
    })
  })
})
