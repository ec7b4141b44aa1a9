import { describe, expect, test } from 'vitest'
import { base64Url } from '../../support/tokens.ts'
import { wholeOf } from '../service.ts'
import { ownWallets, unauthorized, underAttack } from './hostile-harness.ts'

const harness = underAttack()

describe('a header', () => {
  test.each<[what: string, headers: Record<string, string>]>([
    ['another caller by name', { 'x-user-id': '8', 'x-uid': '8', 'x-auth-request-user': '8', 'x-remote-user': '8' }],
    ['another host', { host: 'localhost', 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' }],
    ['another path', { 'x-original-url': '/tron/generate?fresh=1', 'x-rewrite-url': '/tron/generate?fresh=1' }],
    ['another method', { 'x-http-method-override': 'DELETE', 'x-method-override': 'POST' }],
    ['a cookie', { cookie: 'session=8; uid=8; authorization=Bearer x' }],
    ['another client address', { 'x-forwarded-for': '127.0.0.1', 'cf-connecting-ip': '127.0.0.1', 'x-real-ip': '::1' }],
    [
      'a part of the body',
      { range: 'bytes=0-3', 'if-none-match': '*', 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    ],
    ['a media type', { accept: 'application/xml;q=1', 'accept-language': '../..', 'accept-charset': 'utf-7' }],
    ['another type of body', { 'content-type': 'application/json; charset=utf-7' }],
    ['another origin', { origin: 'https://evil.example', referer: 'https://evil.example/' }],
    ['200 other headers', Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-h${i}`, 'x'.repeat(100)]))],
  ])('changes nothing: %s', async (_what, headers) => {
    const response = await harness().get('/wallet/list', headers)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await wholeOf(response)).toEqual({ status: 200, text: ownWallets })
  })

  test.each<[what: string, headers: Record<string, string>]>([
    [
      'a loopback host for DEV_UID',
      { host: 'localhost', 'x-forwarded-host': '127.0.0.1', forwarded: 'host=localhost' },
    ],
    ['a name and a password', { authorization: `Basic ${base64Url('8:8')}` }],
    ['a cookie in place of a token', { cookie: 'authorization=Bearer x' }],
    ['a token elsewhere', { 'x-authorization': 'Bearer x', 'proxy-authorization': 'Bearer x', 'x-access-token': 'x' }],
  ])('is not a token: %s', async (_what, headers) => {
    const response = await harness().service.get('/wallet/list', null, { headers })
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await wholeOf(response)).toEqual(unauthorized)
  })

  test.each(['access_token', 'token', 'jwt', 'authorization'])(
    'is the only place of a token, not ?%s',
    async (name) => {
      const token = await harness().tokenOf(7)
      expect(await wholeOf(await harness().service.get(`/wallet/list?${name}=${token}`, null))).toEqual(unauthorized)
    },
  )
})
