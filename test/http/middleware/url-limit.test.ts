import { beforeAll, describe, expect, test } from 'vitest'
import { urlCharsMax } from '../../../src/http/errors.ts'
import { osnCharsMax } from '../../../src/ledger/entry.ts'
import { type RunningService, startService } from '../service.ts'

const origin = 'https://wallet.example'
const pathOf = (chars: number, path: string) => path + 'x'.repeat(chars - origin.length - path.length)

let service: RunningService
beforeAll(async () => {
  service = await startService()
})

describe('a URL', () => {
  test(`is read up to ${urlCharsMax} characters`, async () => {
    expect((await service.get(pathOf(urlCharsMax, '/wallet/list?x='))).status).toBe(200)
    expect((await service.get(pathOf(urlCharsMax, '/'))).status).toBe(404)
  })

  test.each(['/wallet/list?x=', '/', '/health?'])('past that is 414, even without a token: %s', async (path) => {
    expect((await service.get(pathOf(urlCharsMax + 1, path), null)).status).toBe(414)
  })

  test('can have every parameter at its longest, percent-encoded', () => {
    const osn = `osn=${'%20'.repeat(osnCharsMax)}`
    const others = ['page', 'limit', 'cuy', 'wid', 'type', 'from', 'to'].map((name) => `${name}=${'%20'.repeat(30)}`)
    expect(`${origin}/wallet/flow/list?${[osn, ...others].join('&')}`.length).toBeLessThan(urlCharsMax)
  })
})
