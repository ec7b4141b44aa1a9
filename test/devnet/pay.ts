/**
 * `npm run pay -- <T-address> <amount> <TRX|USDT|TRC10>`: sends a deposit on the local chain, from an outside account.
 */
import { parseAddress } from '../../src/chain/address.ts'
import { parseUnits } from '../../src/common/amount.ts'
import { printLine, UserError } from '../support/project.ts'
import { finalityBlocks } from './chain.ts'
import type { PayRequest } from './control.ts'
import { readPorts } from './ports.ts'

const usage = 'npm run pay -- <T-address> <amount> <TRX|USDT|TRC10>'

try {
  const request = readArguments(process.argv.slice(2))
  const txid = await send(request)
  const note =
    request.currency === 'TRC10' ? ' It is worthless: /tron/recharge?txid=… explains why it is not credited.' : ''
  printLine(`${txid}\nFinal in about ${finalityBlocks + 1} seconds.${note}`)
} catch (error) {
  printLine(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

function readArguments(given: readonly string[]): PayRequest {
  const [to = '', amount = '', currency = ''] = given
  if (given.length !== 3) throw new UserError(`Three arguments are required: ${usage}`)
  const address = parseAddress(to)
  if (!address.ok) {
    throw new UserError(`"${to}" is not a Tron address (${address.error}): copy all 34 characters, starting with T.`)
  }
  if (currency !== 'TRX' && currency !== 'USDT' && currency !== 'TRC10') {
    throw new UserError(`"${currency}" is not a currency of the local chain: use TRX, USDT or TRC10.`)
  }
  const units = parseUnits(amount, 6)
  if (!units.ok || units.value === 0n) {
    throw new UserError(
      `"${amount}" is not an amount: use a decimal number above zero with at most 6 decimals, such as 25 or 0.5.`,
    )
  }
  return { to, amount, currency }
}

async function send(request: PayRequest): Promise<string> {
  const { tron } = readPorts()
  const response = await fetch(`http://127.0.0.1:${tron}/devnet/pay`, {
    method: 'POST',
    body: JSON.stringify(request),
  }).catch(() => null)
  if (response === null) throw new UserError(`No local chain is running on port ${tron}: run "npm start" first.`)
  const { txid, error } = (await response.json()) as { txid?: string; error?: string } // tron-server.ts sends no other
  if (txid === undefined) throw new UserError(error ?? 'The local chain refused the payment.')
  return txid
}
