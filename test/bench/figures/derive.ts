import { HDNodeVoidWallet, HDNodeWallet } from 'ethers'
import { TronWeb } from 'tronweb'
import { testXpub } from '../../support/configured.ts'
import { bundleWorker } from '../bundles.ts'
import type { Figure, Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { startPlatform } from '../platform.ts'
import { Trouble, timed } from '../project.ts'
import { alternate } from '../rounds.ts'

const countAtFull = 3_000
const countMin = 1_000
/** The two others are slower by so much that fewer addresses take as long. */
const sharePeers = 0.1
const reach = 5
/** The public mnemonic whose account `testXpub` is; tronweb derives from a mnemonic only. */
const testMnemonic = 'test test test test test test test test test test test junk'

/** New addresses per second, from the extended public key in workerd beside two known libraries in Node. */
export async function measureDerivation(scale: Scale): Promise<readonly Figure[]> {
  const { script } = await bundleWorker('deriving')
  const platform = await startPlatform([{ name: 'deriving', script, database: null }])
  const count = Math.max(countMin, Math.round(countAtFull * scale.work))
  const fewer = Math.max(10, Math.round(count * sharePeers))
  const chain = HDNodeWallet.fromExtendedKey(testXpub).deriveChild(0)
  if (!(chain instanceof HDNodeVoidWallet)) throw new Trouble('the test key is private')
  let from = 0
  const ours = async () => {
    from += count
    return await perSecond(count, () => getText(`${platform.url('deriving')}/${testXpub}/${from}/${count}`))
  }
  const tronweb = (n: number) => TronWeb.fromMnemonic(testMnemonic, `m/44'/195'/0'/0/${n}`).address
  const peer = (derive: (n: number) => string) => async () => {
    from += fewer
    return await perSecond(fewer, () => {
      for (let i = 0; i < fewer; i += 1) derive(from + i)
    })
  }
  try {
    const last = await getText(`${platform.url('deriving')}/${testXpub}/0/8`)
    if (last !== tronweb(7)) throw new Trouble('tronweb derives another address')
    const rounds = await alternate(scale.rounds, {
      ours,
      tronweb: peer(tronweb),
      ethers: peer((n) => chain.deriveChild(n).address),
    })
    const better = rounds.median('tronweb') > rounds.median('ethers') ? 'tronweb' : 'ethers'
    const ratio = rounds.ratio('ours', better)
    const others = { tronweb: "tronweb's fromMnemonic", ethers: "ethers' HD node of the same xpub" }
    const slower = better === 'ethers' ? 'tronweb' : 'ethers'
    return [
      {
        name: 'new addresses from the extended public key, in workerd',
        value: rounds.median('ours'),
        unit: 'addresses/s',
        beside: { name: `${others[better]}, in Node`, value: rounds.median(better) },
        ratio,
        reach: { what: `≥ ${reach}`, isReached: ratio >= reach },
        note: `${others[slower]}: ${rounds.median(slower).toFixed(0)}/s`,
      },
    ]
  } finally {
    await platform.stop()
  }
}

async function perSecond(count: number, work: () => unknown): Promise<number> {
  const { ms } = await timed(work)
  return (count / ms) * 1000
}
