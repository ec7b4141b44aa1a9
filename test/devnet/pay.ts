/**
 * `npm run pay -- <T-address> <amount> <TRX|USDT|TRC10>`: sends a deposit on the local chain, from
 * an outside account.
 */
import { printLine, UserError } from '../support/project.ts'
import { readPorts, secondsToFinal } from './local.ts'

/**
 * Longest wait for the reply. The local chain replies when the payment's block is stored, usually
 * within three seconds.
 */
const answerMsMax = 90_000

try {
  const [to, amount, currency] = process.argv.slice(2)
  if (process.argv.length !== 5) {
    throw new UserError('Three arguments are required: npm run pay -- <T-address> <amount> <TRX|USDT|TRC10>')
  }
  const { tron } = readPorts()
  const body = JSON.stringify({ to, amount, currency })
  const signal = AbortSignal.timeout(answerMsMax)
  const response = await fetch(`http://127.0.0.1:${tron}/devnet/pay`, { method: 'POST', body, signal }).catch(
    () => null,
  )
  if (signal.aborted) {
    const waited = `The local chain on port ${tron} has not answered within ${answerMsMax / 1000} s`
    throw new UserError(`${waited}: it is not known whether the payment was sent. Look at what "npm start" prints.`)
  }
  if (response === null) throw new UserError(`No local chain is running on port ${tron}: run "npm start" first.`)
  const { txid, error } = (await response.json()) as { txid?: string; error?: string } // tron-server.ts sends no other
  if (txid === undefined) throw new UserError(error ?? 'The local chain refused the payment.')
  const then =
    currency === 'TRC10'
      ? `It is worthless, and not credited. Final in about ${secondsToFinal} seconds: then /tron/recharge?txid=… explains why.`
      : `On its way in a few seconds: look then. Credited in about ${secondsToFinal} seconds.`
  printLine(`${txid}\n${then}`)
} catch (error) {
  printLine(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
