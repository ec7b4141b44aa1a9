import type { Devnet } from './chain.ts'

/**
 * The gas address of the local chain: `m/44'/195'/1'/0/0` of the public test mnemonic, as
 * OPERATOR_ADDRESSES in `test/devnet/dev.vars` has it.
 */
export const operatorBase58 = 'TCjow1qG4ZvDNj5ZRCF2RSuS2kMCGKK1JJ'
/**
 * The address to which money is collected: the first address of another public mnemonic ("abandon …
 * about").
 */
export const treasuryBase58 = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'

/**
 * The payout address of the local chain: `m/44'/195'/2'/0/0` of the mnemonic of the gas address, as
 * PAYOUTS in `test/devnet/dev.vars` has it.
 */
export const payoutBase58 = 'TKUwMQUhHTADfAtfG4gAHwXFGa3PYDieMJ'
/** An address that nobody has used on the local chain: the second one of "abandon … about". */
export const freshBase58 = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'

type Bank = Pick<Devnet, 'apiUrl' | 'pay' | 'stake'>

/**
 * On a new chain, gives the operator 1,000 TRX and a stake of 100,000 TRX, creates the treasury's
 * account, and gives each payout address 1,000 TRX and 1,000 USDT. A payout address does not stake:
 * the service stops payouts if that address sends anything but a payout.
 */
export async function prepareOperator(
  devnet: Bank,
  payoutAddresses: readonly string[] = [payoutBase58],
): Promise<void> {
  if (await isNew(devnet, operatorBase58)) {
    await devnet.pay({ to: operatorBase58, amount: '1000', currency: 'TRX' })
    await devnet.stake({ owner: operatorBase58, amount: '100000' })
    await devnet.pay({ to: treasuryBase58, amount: '1', currency: 'TRX' })
  }
  for (const to of payoutAddresses) {
    if (!(await isNew(devnet, to))) continue
    await devnet.pay({ to, amount: '1000', currency: 'TRX' })
    await devnet.pay({ to, amount: '1000', currency: 'USDT' })
  }
}

async function isNew({ apiUrl }: Bank, address: string): Promise<boolean> {
  const body = JSON.stringify({ address, visible: true })
  const response = await fetch(`${apiUrl}/wallet/getaccount`, { method: 'POST', body })
  // safe: a node answers with `{}` if the account does not exist
  const account = (await response.json()) as { readonly address?: string }
  return account.address === undefined
}
