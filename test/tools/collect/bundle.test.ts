import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { root } from '../../support/project.ts'
import { runWrangler } from '../../support/wrangler.ts'

it('what is deployed has no key tool and none of its packages', async () => {
  const folder = `${root}.wrangler/collect-bundle`
  await runWrangler(
    ['deploy', '--dry-run', '--env=', '--outdir', folder, '--metafile', `${folder}/meta.json`],
    'The service could not be bundled',
  )
  const { inputs } = JSON.parse(readFileSync(`${folder}/meta.json`, 'utf8')) as { inputs: Record<string, unknown> }
  const names = Object.keys(inputs)
  expect(names.some((name) => name.endsWith('src/compose.ts'))).toBe(true)
  expect(names.some((name) => name.includes('node_modules/@scure/bip32/'))).toBe(true) // the service derives addresses
  const isOfTools = /(^|\/)src\/tools\/|node_modules\/(tronweb|age-encryption|@scure\/bip39|ethers)\//
  expect(names.filter((name) => isOfTools.test(name))).toEqual([])
}, 120_000)
