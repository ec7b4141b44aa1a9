import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { systemClock } from '../../../../src/worker/platform/clock.ts'
import { localBackendToken, readVariable } from '../../../devnet/local.ts'
import { printLine, root } from '../../../support/project.ts'

/**
 * Gives user 1 money. Then, for each language, it asks for payouts of TRX and of USDT, has the
 * language's program sign them, and waits until they are paid.
 */
const [, , here = '', folder = ''] = process.argv
const wallet = `http://127.0.0.1:${process.env.PORT}`
const secret = readVariable('BACKEND_JWT_SECRET') ?? ''
const token = await localBackendToken(secret, 'ledger:read ledger:post ledger:pay ledger:sign')

interface Shown {
  readonly osn: string
  readonly state: string
  readonly reason?: string
}
async function service(path: string, body?: object): Promise<readonly Shown[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' }
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
  // trusted: the service is of this repository
  const answer = (await (await fetch(wallet + path, init)).json()) as { msg: string; data?: { list: Shown[] } }
  if (answer.data === undefined) throw new Error(answer.msg)
  return answer.data.list
}

const { privateKey } = JSON.parse(readFileSync(`${folder}/case.json`, 'utf8')) as { privateKey: string }
const usdt = (JSON.parse(readVariable('CURRENCIES') ?? '[]') as { symbol: string; contract?: string }[]).find(
  ({ symbol }) => symbol === 'USDT',
)
const environment = {
  ...process.env,
  WALLET: wallet,
  TOKEN: await localBackendToken(secret, 'ledger:sign'),
  PAYOUT_KEY: privateKey,
  USDT: usdt?.contract ?? '',
}
const run = randomUUID().slice(0, 8)
await service('/ledger/entries', {
  entries: [1, 2].map((cuy) => ({ uid: 1, cuy, type: 9, osn: `own-signer-${run}`, amt: '100' })),
})
const to = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'
const programs = {
  python: [`${folder}/python/bin/python`, `${here}/signer.py`],
  java: ['java', '-cp', `${folder}/java/*`, `${here}/Signer.java`],
} as const
for (const [language, [program, ...args]] of Object.entries(programs)) {
  const names = [1, 2].map((cuy) => `${language}-${cuy}-${run}`)
  await service('/ledger/payouts', {
    payouts: names.map((osn, i) => ({ uid: 1, cuy: i + 1, amt: '1.25', to, osn })),
  })
  printLine(
    execFileSync(program, args, {
      env: environment,
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim(),
  )
  for (;;) {
    const list = (await service('/ledger/payouts?limit=10')).filter(({ osn }) => names.includes(osn))
    printLine(`${language}: ${list.map(({ osn, state }) => `${osn} ${state}`).join(', ')}`)
    const stuck = list.find(({ state }) => state === 'stuck')
    if (stuck !== undefined) throw new Error(`${stuck.osn} is stuck: ${stuck.reason}`)
    if (list.every(({ state }) => state === 'paid')) break
    await systemClock.sleep(3_000)
  }
}
