import type { Devnet } from './chain.ts'

/**
 * The gas address of the local chain: `m/44'/195'/1'/0/0` of the public test mnemonic, as OPERATOR_ADDRESSES in
 * `test/devnet/dev.vars` has it.
 */
export const operatorBase58 = 'TCjow1qG4ZvDNj5ZRCF2RSuS2kMCGKK1JJ'
/** The first address of another public mnemonic ("abandon … about"): somewhere to collect to. */
export const treasuryBase58 = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'

/** On a new chain, gives the operator 1,000 TRX and a stake of 100,000 TRX, and creates the treasury's account. */
export async function prepareOperator(devnet: Pick<Devnet, 'apiUrl' | 'pay' | 'stake'>): Promise<void> {
  const body = JSON.stringify({ address: operatorBase58, visible: true })
  const response = await fetch(`${devnet.apiUrl}/wallet/getaccount`, { method: 'POST', body })
  const account = (await response.json()) as { readonly address?: string } // `{}` where it does not exist
  if (account.address !== undefined) return
  await devnet.pay({ to: operatorBase58, amount: '1000', currency: 'TRX' })
  await devnet.stake({ owner: operatorBase58, amount: '100000' })
  await devnet.pay({ to: treasuryBase58, amount: '1', currency: 'TRX' })
}
