import { HDNodeVoidWallet, HDNodeWallet } from 'ethers'
import { TronWeb } from 'tronweb'
import { UserError } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'
import { bundleWorker } from '../bundles.ts'
import { compareSides, type Figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { alternate, perSecond } from '../rounds.ts'

const countFull = 3_000
const countMin = 1_000
/** The libraries are so much slower that fewer addresses take as long. */
const libraryShare = 0.1
/** The public mnemonic of `testXpub`; tronweb derives only from a mnemonic. */
const testMnemonic = 'test test test test test test test test test test test junk'

/**
 * New addresses per second from the extended public key: the service in workerd, compared with two libraries in Node.
 */
export async function measureDerivation(scale: Scale): Promise<readonly Figure[]> {
  const { script } = await bundleWorker('deriving')
  const workers = await startWorkers([{ name: 'deriving', script, database: null }])
  const count = Math.max(countMin, Math.round(countFull * scale.work))
  const fewer = Math.max(10, Math.round(count * libraryShare))
  const chain = HDNodeWallet.fromExtendedKey(testXpub).deriveChild(0)
  if (!(chain instanceof HDNodeVoidWallet)) throw new UserError('the test key is private')
  let from = 0
  const ours = async () => {
    from += count
    return await perSecond(count, () => getText(`${workers.url('deriving')}/${testXpub}/${from}/${count}`))
  }
  const tronweb = (n: number) => TronWeb.fromMnemonic(testMnemonic, `m/44'/195'/0'/0/${n}`).address
  const library = (derive: (n: number) => string) => async () => {
    from += fewer
    return await perSecond(fewer, () => {
      for (let i = 0; i < fewer; i += 1) derive(from + i)
    })
  }
  try {
    const last = await getText(`${workers.url('deriving')}/${testXpub}/0/8`)
    if (last !== tronweb(7)) throw new UserError('tronweb derives a different address')
    const rounds = await alternate(scale.rounds, {
      ours,
      tronweb: library(tronweb),
      ethers: library((n) => chain.deriveChild(n).address),
    })
    const [faster, slower] =
      rounds.median('tronweb') > rounds.median('ethers')
        ? (['tronweb', 'ethers'] as const)
        : (['ethers', 'tronweb'] as const)
    const libraries = { tronweb: "tronweb's fromMnemonic", ethers: "ethers' HD node of the same xpub" }
    return [
      compareSides(rounds, 'ours', faster, {
        name: 'new addresses from the extended public key, in workerd',
        unit: 'addresses/s',
        baselineName: `${libraries[faster]}, in Node`,
        ratioMin: 5,
        note: `${libraries[slower]}: ${rounds.median(slower).toFixed(0)}/s`,
      }),
    ]
  } finally {
    await workers.stop()
  }
}
