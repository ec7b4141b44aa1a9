import { createServer } from 'node:http'
import { decodeJwt, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listen } from '../../support/loopback.ts'
import { agreedDecimals } from '../../support/payouts.ts'
import { backendSecret } from '../../support/variables.ts'
import { type AskedService, startAsked } from './asked-service.ts'

let service: AskedService
beforeEach(async () => {
  service = await startAsked(backendSecret)
})
afterEach(() => service.close())

const to = 'TKUwMQUhHTADfAtfG4gAHwXFGa3PYDieMJ'
const txid = 'd'.repeat(64)
const address = 'a'.repeat(40)
const [firstLine, at] = [/^Acts on this machine: database x \(\S+\), .+\.\n/, () => ['--service', service.url]]
const operate = (...args: string[]) => service.operate([...args, ...at()])
const shownBy = ({ code, out }: { readonly code: number; readonly out: string }) => [code, out.replace(firstLine, '')]
const secondLine = (name: string) => `Asks ${service.url} as ${name}.\n`

/** The URL of a port on which nothing listens. */
async function closedUrl(): Promise<string> {
  const { url, close } = await listen(createServer())
  await close()
  return url
}

/**
 * Gives user 7 a balance of 100 USDT, and asks for `count` payouts of 10 USDT each as the backend
 * `shop`.
 */
async function askForPayouts(count: number): Promise<void> {
  service.rows(`${agreedDecimals()} RETURNING contract`)
  await service.post('/ledger/entries', { entries: [{ uid: 7, cuy: 2, type: 9, osn: 'start', amt: '100' }] })
  const payouts = Array.from({ length: count }, (_, index) => ({
    uid: 7,
    cuy: 2,
    amt: '10',
    to,
    osn: `p-${index + 1}`,
  }))
  await service.post('/ledger/payouts', { payouts })
}

/** Stores a final deposit of 50 TRX or USDT that is held for review. */
function holdDeposit(cuy: number): void {
  service.rows(
    `INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (1, 7, unhex('${address}'), 1, 5) RETURNING id`,
  )
  service.rows(`INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at,
    tried_at)
    VALUES (1, 100, '${'a'.repeat(64)}', 100, 5, 5, 5, 5, 5) RETURNING id`)
  service.rows(`INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native,
    state, reason,
    review, amount, created_at, changed_at)
      VALUES (unhex('${txid}'), ${cuy === 1 ? 0 : 3}, 90, ${cuy}, 7, unhex('${'c'.repeat(40)}'), unhex('${address}'),
    '50000000', ${cuy === 1 ? 1 : 0}, 'held', 'review', 'open', 0, 5, 5) RETURNING txid`)
}
const decided = () => service.rows('SELECT decision, why, decided_by FROM decision').map((row) => Object(row))

describe('payouts approve', () => {
  it('approves what another name has asked for, as a named person', async () => {
    await askForPayouts(2)
    const end = await operate('payouts', 'approve', '1', '2', '--name', 'anna')
    const lines = [1, 2].map((id) => `approved: payout ${id}, 10 USDT to ${to} (user 7, p-${id}), approved by anna\n`)
    expect(shownBy(end)).toEqual([0, secondLine('anna') + lines.join('')])
    expect(service.rows('SELECT approved_by FROM payout').map((row) => Object(row).approved_by)).toEqual([
      'anna',
      'anna',
    ])
    const token = decodeJwt(service.asked.at(-1)?.authorization.replace('Bearer ', '') ?? '')
    expect(token).toMatchObject({ sub: 'anna', scope: 'ledger:approve' }) // the token allows nothing else
  })

  it('run again, approves none that has got stuck since: a stuck one takes the attempts that it shows', async () => {
    await askForPayouts(1)
    const approve = (...more: string[]) => operate('payouts', 'approve', '1', '--name', 'anna', ...more)
    expect((await approve()).code).toBe(0)
    expect((await approve()).code).toBe(0)
    const getStuck = (attempts: number) =>
      service.rows(
        `UPDATE payout SET version = version + 1, state = 'stuck', reason = 'failed', attempts = ${attempts},
          attempts_max = 9, height = 90,
           txid = '${txid}', expires_at = 9 WHERE id = 1 RETURNING id`,
      )
    service.rows('DROP TRIGGER payout_takes_its_steps')
    getStuck(1)
    const again = await approve()
    expect(again.code).toBe(1)
    expect(again.all).toContain('to approve it once more, send attempts: 1')
    expect(again.all).toMatch(/What to do: .*run it again with --attempts/)
    expect((await approve('--attempts', '1')).out).toContain('approved, 1 attempt: payout 1, 10 USDT')
    getStuck(2)
    for (const more of [[], ['--attempts', '1']]) expect((await approve(...more)).code).toBe(1)
    expect((await approve('--attempts', 'x')).code).toBe(2)
  })

  it('says why the service refuses, and what to do', async () => {
    await askForPayouts(1)
    const own = await operate('payouts', 'approve', '1', '--name', 'shop')
    expect([own.code, own.all.split('\n').slice(2)]).toEqual([
      1,
      [
        expect.stringMatching(/^Stopped: 403: .*another name/),
        'What to do: let another name do it (--name), a person of another name.',
        '',
      ],
    ])
    const unknown = await operate('payouts', 'approve', '77', '--name', 'anna')
    expect([unknown.code, unknown.all]).toEqual([
      1,
      expect.stringMatching(/Stopped: 404: .*\nWhat to do: look at what waits/),
    ])
  })
})

describe('payouts cancel', () => {
  it('says with --moved alone that it is known what has left', async () => {
    await askForPayouts(2)
    const bodies = []
    for (const words of [
      ['approve', '1', '--moved'],
      ['cancel', '2', '--reason', 'x', '--moved'],
      ['cancel', '1', '--reason', 'x'],
    ]) {
      await operate('payouts', ...words, '--name', 'anna')
      bodies.push(JSON.parse(service.asked.at(-1)?.body ?? ''))
    }
    expect(bodies).toEqual([
      { ids: [1], attempts: 0, moved: true },
      { ids: [2], why: 'x', moved: true },
      { ids: [1], why: 'x' },
    ])
  })

  it('gives the money back, with a reason, and again with the same answer', async () => {
    await askForPayouts(1)
    const cancel = ['payouts', 'cancel', '1', '--name', 'anna', '--reason', 'a wrong address']
    const line = `cancelled: payout 1, 10 USDT to ${to} (user 7, p-1)\n`
    expect(shownBy(await operate(...cancel))).toEqual([0, secondLine('anna') + line])
    expect(shownBy(await operate(...cancel))).toEqual([0, secondLine('anna') + line])
    const [row] = service.rows('SELECT why, cancelled_by FROM payout')
    expect({ ...Object(row) }).toEqual({ why: 'a wrong address', cancelled_by: 'anna' })
  })
})

describe('deposits decide', () => {
  it.each([
    ['credited', 'credit', 1],
    ['held \\(decimals-unknown\\)', 'credit', 2], // approved, but its currency's decimals are still unknown
    ['refused \\(review\\)', 'refuse', 1],
  ])('decides a deposit that is held for review: it is %s', async (state, decision, cuy) => {
    holdDeposit(cuy)
    const end = await operate(
      'deposits',
      'decide',
      txid,
      cuy === 1 ? '0' : '3',
      decision,
      '--name',
      'anna',
      '--reason',
      'looked at',
    )
    const line = `${state}: deposit of 50 ${cuy === 1 ? 'TRX' : 'USDT'} at T\\w{33} \\(user 7, ${txid}\\)\n`
    expect(end.out).toMatch(new RegExp(`${line}$`))
    expect([end.code, decided()]).toEqual([0, [{ decision, why: 'looked at', decided_by: 'anna' }]])
  })

  it('sends the place of a transfer within a transaction as the desk lists it', async () => {
    const end = await operate('deposits', 'decide', `0x${txid}`, 'i2', 'refuse', '--name', 'anna', '--reason', 'x')
    expect([end.code, end.all]).toEqual([1, expect.stringContaining('Stopped: 404: ')])
  })
})

describe('desk-token', () => {
  const make = (...args: string[]) => operate('desk-token', '--name', 'anna', '--scope', 'read,approve', ...args)

  it('makes a token for an hour, of this name and with these scopes', async () => {
    const { code, out } = await make()
    const [, link = '', says] = out.split('\n')
    const token = link.replace(`${service.url}/desk#token=`, '')
    const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(backendSecret))
    expect([code, protectedHeader.alg, payload]).toEqual([
      0,
      'HS256',
      {
        sub: 'anna',
        scope: 'ledger:read ledger:approve',
        exp: Math.floor(service.time.clock.now() / 1_000) + 3_600,
      },
    ])
    expect(says).toBe('Open it: anna may do this for an hour: ledger:read ledger:approve. So may whoever else has it.')
    const response = await fetch(`${service.url}/ledger/summary`, { headers: { authorization: `Bearer ${token}` } })
    const { data } = (await response.json()) as { data: { reader: unknown } } // safe: the service's own reply
    expect(data.reader).toEqual({ name: 'anna', scopes: ['ledger:read', 'ledger:approve'] })
  })

  it('takes the secret from a file, or as it is typed, and has the claims that the service wants', async () => {
    await service.close()
    const claims = { BACKEND_ISSUER: 'https://login.example', BACKEND_AUDIENCE: 'wallet' }
    service = await startAsked(null, claims)
    service.write('.dev.vars', 'BACKEND_ISSUER="https://login.example"\nBACKEND_AUDIENCE="wallet"\n')
    service.write('secret', `${backendSecret}\n`)
    const typed = ['desk-token', '--name', 'anna', '--scope', 'read', '--stdin', ...at()]
    const ends = [await make('--secret', 'secret'), await service.operate(typed, { input: `${backendSecret}\n` })]
    for (const { code, all } of ends) {
      const token = /#token=(\S+)/.exec(all)?.[1] ?? ''
      const { status } = await fetch(`${service.url}/ledger/summary`, { headers: { authorization: `Bearer ${token}` } })
      expect([code, status]).toEqual([0, 200])
      expect(all).not.toContain(backendSecret)
    }
  })

  it('prints the token alone for a deployment whose URL is not given, by the secret of that deployment', async () => {
    service.write('.dev.vars.production', `BACKEND_JWT_SECRET="${backendSecret}"`)
    service.write('.dev.vars', 'BACKEND_JWT_SECRET="the secret of this machine, which is another one"')
    const args = ['desk-token', '--name', 'anna', '--scope', 'read,pay', '--production']
    const { code, out } = await service.operate(args)
    const [, token = '', ...says] = out.split('\n')
    await jwtVerify(token, new TextEncoder().encode(backendSecret))
    expect([code, says]).toEqual([
      0,
      [
        'Paste it at /desk of the deployment: anna may do this for an hour: ledger:read ledger:pay. So may whoever else has it.',
        '',
      ],
    ])
  })
})

describe('a person at a terminal', () => {
  const reach = (...args: string[]) => service.operate(['payouts', 'approve', '1', '--name', 'anna', ...args])

  it('is told what to do where no secret is at hand, it is another one, or it is too short', async () => {
    service.write('.dev.vars', '')
    const none = await reach(...at())
    expect([none.code, none.all]).toEqual([1, expect.stringContaining('the answers must be typed at a terminal')])
    service.write('other', 'the secret of quite another deployment')
    const other = await reach(...at(), '--secret', 'other')
    expect([other.code, other.all]).toEqual([
      1,
      expect.stringMatching(/Stopped: 401: .*\nWhat to do: give the secret of this/),
    ])
    service.write('short', 'short')
    const short = await reach(...at(), '--secret', 'short')
    expect([short.code, short.all]).toEqual([
      1,
      expect.stringMatching(/Stopped: BACKEND_JWT_SECRET: .*\nWhat to do: give/),
    ])
    expect(service.asked.map(({ path }) => path)).toEqual(['/ledger/payouts/approve'])
  })

  it('is told where the service cannot be reached or is none', async () => {
    const away = await reach('--service', await closedUrl())
    const next = 'start it, or name another one with --service; what was done once is not done again'
    expect([away.code, away.all]).toEqual([
      1,
      expect.stringContaining(`Stopped: the service cannot be reached: ECONNREFUSED.\nWhat to do: ${next}.\n`),
    ])
  })

  it('names a deployment by its URL: the secret of this machine goes nowhere else', async () => {
    const { code, all } = await reach('--production')
    expect([code, all]).toEqual([2, expect.stringContaining('--service: the URL of the service, with https')])
    const insecure = await reach('--service', 'http://wallet.example')
    expect(insecure.code).toBe(2)
  })

  it.each<[string, readonly string[], string]>([
    ['no payout', ['payouts', 'approve', '--name', 'anna'], 'payouts: the ids of 1 to 20 payouts'],
    ['an id that is none', ['payouts', 'approve', '1x', '--name', 'anna'], 'payouts: the ids of 1 to 20 payouts'],
    ['no name', ['payouts', 'approve', '1'], '--name: who does it'],
    ['an address as a name', ['payouts', 'approve', '1', '--name', 'anna@example.com'], '--name: who does it'],
    ['the name of the limits', ['payouts', 'approve', '1', '--name', 'limits'], '--name: who does it'],
    ['no reason', ['payouts', 'cancel', '1', '--name', 'anna'], '--reason: the reason'],
    ['a reason for an approval', ['payouts', 'approve', '1', '--name', 'anna', '--reason', 'x'], 'takes no --reason'],
    ['no decision', ['deposits', 'decide', txid, '3', '--name', 'anna', '--reason', 'x'], 'deposits decide: a txid'],
    [
      'another decision',
      ['deposits', 'decide', txid, '3', 'keep', '--name', 'anna', '--reason', 'x'],
      'deposits decide: a txid',
    ],
    ['a token for nothing', ['desk-token', '--name', 'anna'], '--scope: words of read, approve, pay'],
    ['a token for another scope', ['desk-token', '--name', 'anna', '--scope', 'read,sign'], '--scope: words of read'],
    ['words behind another command', ['gap', 'list', 'x'], 'which command?'],
  ])('is refused with %s, before anything is asked', async (_, args, why) => {
    const { code, all } = await service.operate(args)
    expect([code, all]).toEqual([2, expect.stringContaining(why)])
    expect(service.asked).toEqual([])
  })
})
