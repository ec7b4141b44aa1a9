/** `npm run pay -- <T-address> <amount> <TRX|USDT|TRC10>`: a deposit on the local chain, as somebody else would send it. */
import { parseAddress } from '../../src/addresses/address.ts'
import { parseUnits } from '../../src/ledger/amount.ts'
import { finalityBlocks } from './anvil.ts'
import type { PayRequest } from './control.ts'
import { readPorts, Trouble } from './project.ts'

const usage = 'npm run pay -- <T-address> <amount> <TRX|USDT|TRC10>'

try {
  const request = readArguments(process.argv.slice(2))
  const txid = await send(request)
  const worth = request.currency === 'TRC10' ? ' It is worth nothing: /tron/recharge?txid=… says so.' : ''
  process.stdout.write(`${txid}\nFinal in about ${finalityBlocks + 1} seconds.${worth}\n`)
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function readArguments(given: readonly string[]): PayRequest {
  const [to = '', amount = '', currency = ''] = given
  if (given.length !== 3) throw new Trouble(`Three arguments are needed: ${usage}`)
  const address = parseAddress(to)
  if (!address.ok) throw new Trouble(`"${to}" is no Tron address (${address.error}): copy the whole of it, from T on.`)
  if (currency !== 'TRX' && currency !== 'USDT' && currency !== 'TRC10') {
    throw new Trouble(`"${currency}" can't be sent: choose TRX, USDT or TRC10.`)
  }
  const units = parseUnits(amount, 6)
  if (!units.ok || units.value === 0n) {
    throw new Trouble(
      `"${amount}" is no amount: write a decimal above zero with at most 6 decimals, such as 25 or 0.5.`,
    )
  }
  return { to, amount, currency }
}

async function send(request: PayRequest): Promise<string> {
  const { face } = readPorts()
  const response = await fetch(`http://127.0.0.1:${face}/devnet/pay`, {
    method: 'POST',
    body: JSON.stringify(request),
  }).catch(() => null)
  if (response === null) throw new Trouble(`No local chain answers on port ${face}: run "npm start" first.`)
  const answer = (await response.json()) as { txid?: string; error?: string } // the face's own control
  if (answer.txid === undefined) throw new Trouble(answer.error ?? 'The local chain refused the payment.')
  return answer.txid
}
