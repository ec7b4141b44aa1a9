import { describe, expect, test } from 'vitest'
import { crashed } from '../../../src/http/errors.ts'
import { stackCharsMax } from '../../../src/platform/logger.ts'
import { brokenDatabase, failed, read, startService } from '../service.ts'

/** The response and the log lines of a request whose database throws this. */
async function crash(thrown: unknown) {
  const service = await startService({ DB: brokenDatabase(thrown) })
  await service.get('/x') // the first request logs what the configuration lacks
  service.lines.length = 0
  const response = await service.get('/wallet/list')
  return { response, lines: service.lines.map((line) => JSON.parse(line)) }
}

describe('a crash', () => {
  test('is a bare 500, and only the log has its text, under the id of the request', async () => {
    const { response, lines } = await crash(new Error('SQLITE_ERROR: no such table'))
    expect(await read(response)).toEqual(failed(500, crashed.msg))
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        event: 'request-crashed',
        requestId: response.headers.get('x-request-id'),
        route: '/wallet/list',
        text: expect.stringContaining('SQLITE_ERROR: no such table'),
      },
    ])
  })

  test.each([
    ['a text', 'a text'],
    ['null', null],
    ['an object with a response', { getResponse: () => new Response('own body') }],
    [
      'an error with a response',
      Object.assign(new Error('an error'), { getResponse: () => new Response('own body', { status: 200 }) }),
    ],
  ])('is the same where %s is thrown', async (_what, thrown) => {
    const { response, lines } = await crash(thrown)
    expect(await read(response)).toEqual(failed(500, crashed.msg))
    expect(lines.map(({ event }) => event)).toEqual(['request-crashed', 'request'])
  })

  test('has at most this much text in the log', async () => {
    const { lines } = await crash(new Error('x'.repeat(stackCharsMax * 2)))
    expect(lines[0]?.text).toHaveLength(stackCharsMax)
  })
})
