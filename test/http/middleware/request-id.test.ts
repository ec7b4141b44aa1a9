import { beforeAll, describe, expect, test } from 'vitest'
import { type RunningService, startService } from '../service.ts'

let service: RunningService
beforeAll(async () => {
  service = await startService()
})
const idFor = async (own: string) =>
  (await service.get('/wallet/list', 7, { headers: { 'x-request-id': own } })).headers.get('x-request-id')

describe('the request id', () => {
  test.each(['abc', 'A-1_b.c', 'x'.repeat(64), crypto.randomUUID()])(
    'is the own one of the caller: %s',
    async (own) => {
      expect(await idFor(own)).toBe(own)
      expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ requestId: own })
    },
  )

  test.each(['', 'x'.repeat(65), 'a b', 'a,b', 'a=b', '<b>', '"', 'a/b'])(
    'is a new one in place of "%s"',
    async (own) => {
      expect(await idFor(own)).toMatch(/^name-\d+$/)
    },
  )
})
