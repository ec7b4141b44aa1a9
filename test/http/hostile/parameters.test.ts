import { describe, expect, test } from 'vitest'
import { documentedOperations } from '../../../src/http/openapi/document.ts'
import { wholeOf } from '../service.ts'
import { noEntries, ownWallets, underAttack } from './hostile-harness.ts'

const harness = underAttack()

/** Every parameter of every route. */
const parameters = documentedOperations().flatMap(({ path, operation }) =>
  Object.keys(operation.query?.shape ?? {}).map((name): [string, string] => [path, name]),
)

/** The URL of a route with this query, and with the user that a route for backends requires. */
const urlOf = (path: string, name: string, query: string) =>
  path.startsWith('/ledger/') && name !== 'uid' ? `${path}?uid=7&${query}` : `${path}?${query}`

/** Values that no parameter takes, as in a URL. */
const hostileValues: readonly [what: string, value: string][] = [
  ['no characters', ''],
  ['a NUL', '1%00'],
  ['a line end', '1%0d%0aset-cookie:x=1'],
  ['an incomplete UTF-8 sequence', '%c3'],
  ['a right-to-left mark', '%e2%80%ae1'],
  ['an emoji', '%f0%9f%92%b0'],
  ['a letter beyond ASCII', '%ef%bc%91'],
  ['1,500 digits', '9'.repeat(1_500)],
]
/** Values that only a parameter with any text takes: there they match nothing. */
const injections: readonly [what: string, value: string][] = [
  ['SQL that is always true', `1' OR '1'='1`],
  ['SQL that deletes', '1; DROP TABLE flow; --'],
  ['SQL that joins', '1) UNION SELECT * FROM address --'],
  ['a wildcard', '%'],
  ['an object', '{"$gt":""}'],
  ['a template', '#{7*7}'],
  ['a path', '../../etc/passwd'],
  ['a script', '<script>alert(1)</script>'],
  ['a prototype', '__proto__'],
]

describe('a parameter', () => {
  /** The response refuses the parameter by its name. */
  const expectRefused = async (response: Response, name: string) => {
    expect(await response.json()).toEqual({ code: 400, msg: expect.stringMatching(`^${name}: `) })
    expect(response.status).toBe(400)
  }

  const cells = parameters.flatMap(([path, name]) =>
    hostileValues.map(([what, value]): [string, string, string, string] => [path, name, what, value]),
  )
  test.each(cells)('%s: %s with %s is refused', async (path, name, _what, value) => {
    await expectRefused(await harness().ask(urlOf(path, name, `${name}=${value}`)), name)
  })

  const injected = parameters.flatMap(([path, name]) =>
    injections.map(([what, value]): [string, string, string, string] => [path, name, what, value]),
  )
  test.each(injected)('%s: %s with %s does nothing', async (path, name, _what, value) => {
    const response = await harness().ask(urlOf(path, name, `${name}=${encodeURIComponent(value)}`))
    if (name !== 'osn') await expectRefused(response, name)
    else expect(await wholeOf(response)).toEqual({ status: 200, text: noEntries })
  })

  test.each(parameters)('%s: %s given twice is refused', async (path, name) => {
    await expectRefused(await harness().ask(urlOf(path, name, `${name}=1&${name}=1`)), name)
    const encoded = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
    await expectRefused(await harness().ask(urlOf(path, name, `${name}=1&${encoded}=1`)), name)
  })

  test.each([
    'uid=8',
    'sub=8',
    'user=8',
    'wallet=8',
    'DEV_UID=8',
    'limit[]=1',
    '__proto__=1',
    'constructor=1',
    '=',
    '&&',
    '?',
  ])('that the route does not have is ignored: %s', async (query) => {
    expect(await wholeOf(await harness().get(`/wallet/list?${query}`))).toEqual({ status: 200, text: ownWallets })
  })
})
