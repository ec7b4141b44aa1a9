import { describe, expect, test } from 'vitest'
import type { Uid } from '../../src/worker/common/ids.ts'
import { notConfigured, unknownPath } from '../../src/worker/http/errors.ts'
import { noPageSettings, withSettings } from '../../src/worker/http/page-settings.ts'
import { failed, read, startService } from './service.ts'

const policy = "default-src 'none'; frame-ancestors 'none', require-trusted-types-for 'script'"
const stored = { 'content-security-policy': policy, 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' }

/**
 * A binding of static files. Every response has these headers and this status. `requests` lists the
 * requests that it received.
 */
function createFiles(headers: HeadersInit = stored, status = 200) {
  const requests: Request[] = []
  const fetch = async (url: string, init: RequestInit) => {
    requests.push(new Request(url, init))
    return new Response('<p>a page</p>', { status, headers: { etag: '"1"', 'content-type': 'text/html', ...headers } })
  }
  return { requests, files: { fetch } }
}

const shop = 'https://shop.example'
const policyOf = (response: Response) => response.headers.get('content-security-policy')

describe('the page for callers', () => {
  test('is the static file, without a token, and no page may frame it', async () => {
    const { files, requests } = createFiles()
    const service = await startService({ ASSETS: files })
    const headers = { 'if-none-match': '"1"', authorization: 'Bearer x' }
    const response = await service.get('/deposit?x=1', null, { headers })
    expect([response.status, await response.text()]).toEqual([200, '<p>a page</p>'])
    expect(Object.fromEntries(response.headers)).toMatchObject({ ...stored, 'cache-control': 'no-cache' })
    expect(response.headers.get('etag')).toBeNull()
    expect(response.headers.get('cross-origin-resource-policy')).toBeNull()
    expect(response.headers.get('x-request-id')).toBeTruthy()
    // The file is asked for without any header: a browser's copy could be from before PAGE_ORIGINS
    // changed, and the binding must never see a token.
    expect(requests.map(({ url, method }) => [url, method])).toEqual([['https://wallet.example/deposit', 'GET']])
    expect([...(requests[0]?.headers ?? [])]).toEqual([])
    expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ route: '/deposit', status: 200, databaseQueries: 0 })
  })

  test('may be framed by the pages of PAGE_ORIGINS and of no other', async () => {
    const { files } = createFiles()
    const service = await startService({ ASSETS: files, PAGE_ORIGINS: `${shop}, http://localhost:3000` })
    const { headers } = await service.get('/deposit', null)
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; frame-ancestors ${shop} http://localhost:3000, require-trusted-types-for 'script'`,
    )
    expect(headers.get('x-frame-options')).toBeNull()
    expect(policyOf(await service.get('/wallet/list'))).toContain("frame-ancestors 'none'")
  })

  test('has its settings in it: brand, origins, and on this machine alone whom it acts for without a token', async () => {
    const fetch = async () => new Response('<meta name="settings" content=""><p>', { headers: stored })
    const brand = { name: '"A" & <B>', color: '#635bff' }
    const service = await startService({
      ASSETS: { fetch },
      PAGE_ORIGINS: shop,
      PAGE_BRAND: brand,
      PAGE_WALLET: 'trust',
      DEV_UID: '7',
    })
    const settingsIn = async (response: Response) => {
      const [, json = ''] = /^<meta name="settings" content="([^"<]+)"><p>$/.exec(await response.text()) ?? []
      return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'))
    }
    const settings = { origins: [shop], brand: { ...brand, logo: null }, wallet: 'trust', devUid: null }
    expect(await settingsIn(await service.get('/deposit', null))).toEqual(settings)
    const here = await service.fetch(new Request('http://127.0.0.1:8787/deposit'))
    expect(await settingsIn(here)).toEqual({ ...settings, devUid: 7 })
  })

  test('keeps a text of its settings that looks like a pattern', () => {
    const settings = { ...noPageSettings, brand: { name: '$& $1', color: null, logo: null }, devUid: 1 as Uid }
    expect(withSettings('<meta name="settings" content="">', settings)).toContain('$&amp; $1')
  })

  test('has a closed policy where its file comes without one', async () => {
    const { files } = createFiles({})
    const closed = await startService({ ASSETS: files })
    expect(policyOf(await closed.get('/deposit', null))).toBe("default-src 'none'; frame-ancestors 'none'")
    const open = closed.with({ PAGE_ORIGINS: shop })
    expect(policyOf(await open.get('/deposit', null))).toBe(`default-src 'none'; frame-ancestors ${shop}`)
  })

  test('is framed by no page where the configuration is wrong, and says nothing about it', async () => {
    const { files } = createFiles()
    for (const wrong of [{ TRON_XPUB: undefined }, { PAGE_ORIGINS: 'https://*.example' }]) {
      const service = await startService({ ASSETS: files, PAGE_ORIGINS: shop, ...wrong })
      const response = await service.get('/deposit', null)
      expect([response.status, await response.text()]).toEqual([200, '<p>a page</p>'])
      expect(policyOf(response)).toBe(policy)
      expect(response.headers.get('x-frame-options')).toBe('DENY')
      expect(await read(await service.get('/wallet/list'))).toEqual(failed(503, notConfigured.msg))
    }
  })

  test('has one spelling and two methods', async () => {
    const service = await startService({ ASSETS: createFiles().files, CORS_ORIGINS: '*' })
    const head = await service.get('/deposit', null, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const method of ['POST', 'OPTIONS']) {
      const response = await service.get('/deposit', null, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
    for (const path of ['/deposit/', '/Deposit', '/deposit.html', '/%64eposit']) {
      expect([path, (await service.get(path, null)).status]).toEqual([path, 404])
    }
  })

  test('is not at the root, where the answer says where all paths are listed', async () => {
    const service = await startService()
    const answered = await read(await service.get('/', null))
    expect(answered).toMatchObject({ status: 404, body: { msg: expect.stringContaining('/docs lists all paths') } })
  })

  test('is 404 without static files, and 500 where they cannot be read', async () => {
    const service = await startService()
    expect(await read(await service.get('/deposit', null))).toEqual(failed(404, unknownPath.msg))
    const fetch = () => Promise.reject(new Error('the files are away'))
    const broken = await startService({ ASSETS: { fetch } })
    expect(await read(await broken.get('/deposit', null))).toEqual(failed(500, 'internal error'))
  })
})
