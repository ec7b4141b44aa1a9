/**
 * `node test/outside/clients/run.ts [name …]`: starts the service with a local chain and runs the
 * named scripts of this folder, or all of them. Each script makes a client of /openapi.json with
 * one generator, compiles the client and calls the service with it. The scripts install pinned
 * packages in a temporary folder; the tests do not run them. Each output is compared with
 * `<name>.expected`, from which the table in docs/guides/clients.md is made. `--wait` only starts
 * the service.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDocument } from '../../../src/worker/http/openapi/document.ts'
import { localBackendToken } from '../../devnet/local.ts'
import { signToken } from '../../http/auth/sign-token-example.ts'
import { startLocalService } from '../../pages/local-service.ts'
import { payoutAddress } from '../../pages/payout-fixture.ts'
import { printLine } from '../../support/project.ts'
import { tryScripts } from '../try-scripts.ts'

const here = fileURLToPath(new URL('.', import.meta.url).href)
const secrets = {
  AUTH_JWT_SECRET: 'a secret of users, for these runs only',
  BACKEND_JWT_SECRET: 'a secret of backends, for these runs',
}
/** A uid that needs more than 32 bits. */
const uid = 3_000_000_000
/**
 * What the user gets. The first amount loses digits in a 32-bit float, the second one also in a
 * 64-bit float.
 */
const gifts = [
  { uid, cuy: 2, type: 9, osn: 'gift-usdt', amt: '12345.678901' },
  { uid, cuy: 1, type: 9, osn: 'gift-trx', amt: '9007199254.740991' },
]

const names = process.argv.slice(2).filter((name) => name !== '--wait')

const service = await startLocalService({ ...secrets, PAYOUTS: JSON.stringify({ address: payoutAddress }) })
const folder = mkdtempSync(join(tmpdir(), 'clients-'))
try {
  const scope = 'ledger:read ledger:post ledger:pay ledger:sign'
  const backend = await localBackendToken(secrets.BACKEND_JWT_SECRET, scope)
  const headers = { authorization: `Bearer ${backend}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ entries: gifts })
  await fetch(`${service.url}/ledger/entries`, { method: 'POST', headers, body })
  const documentFile = join(folder, 'openapi.json')
  const document = createDocument('1.0.0')
  writeFileSync(documentFile, JSON.stringify(document))
  // safe: createDocument makes paths of this shape
  const paths = document.paths as Record<string, Record<string, { tags: string[] }>>
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const environment = {
    WALLET: service.url,
    USER_TOKEN: await signToken(uid, secrets.AUTH_JWT_SECRET),
    BACKEND_TOKEN: backend,
    DOCUMENT: documentFile,
    /**
     * How many operations a client should have for the ledger. Each script prints how many of them
     * its generator leaves out.
     */
    LEDGER_ROUTES: String(operations.filter(({ tags }) => tags.includes('Ledger')).length),
    HERE: here,
  }
  if (process.argv.includes('--wait')) {
    printLine(
      Object.entries(environment)
        .map(([name, value]) => `export ${name}='${value}'`)
        .join('\n'),
    )
    await new Promise((resolve) => process.once('SIGTERM', resolve))
  } else {
    await tryScripts(here, names, environment)
  }
} finally {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}
