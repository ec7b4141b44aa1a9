/**
 * `npm run keys -- new | show`: the extended public key for `TRON_XPUB`, from a new mnemonic or from one that is typed in.
 * It needs no network. Exit codes: 0, 1 (stopped, the reason is printed), 2 (wrong options).
 */
import { parseArgs } from 'node:util'
import { deriveAddress, parseExtendedPublicKey } from '../../addresses/derive.ts'
import { formatBase58 } from '../../chain/address.ts'
import { accountMax, accountPath, depositPath, keyAt, openMnemonic, payoutPath } from '../signing/account-key.ts'
import { askMnemonic, type Mnemonic, showNewMnemonic } from '../signing/mnemonic.ts'
import { createTerminal, type Terminal } from '../signing/terminal.ts'
import { ToolError } from '../tool-error.ts'

const usage = `npm run keys -- new | show  [--account 0]
  --stdin       answers from the input, a line for each question
  --allow-pipe  print although the output goes to a file or a pipe`
const options = {
  account: { type: 'string', default: '0' },
  stdin: { type: 'boolean', default: false },
  'allow-pipe': { type: 'boolean', default: false },
} as const
const shownAddresses = 3

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ToolError)) throw error
  process.stderr.write(`Stopped: ${error.message}.\n`)
  process.exitCode = 1
}

async function run(args: readonly string[]): Promise<number> {
  const parsed = readArguments(args)
  if (parsed === null) {
    process.stderr.write(`${usage}\n`)
    return 2
  }
  const { command, account, values } = parsed
  const { stdin: input, stdout: output, stderr: questions } = process
  const terminal = createTerminal({ input, output, questions }, values.stdin)
  if (!terminal.isPrivate && !values['allow-pipe']) {
    throw new ToolError(
      'the output goes to a file or a pipe, where a mnemonic must not be; --allow-pipe prints it there',
    )
  }
  const mnemonic = command === 'new' ? await showNewMnemonic(terminal) : await askMnemonic(terminal, 'Mnemonic')
  printPublic(terminal, mnemonic, account)
  input.destroy() // it would keep the process
  return 0
}

function readArguments(args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [command, ...rest] = positionals
    const account = /^\d{1,10}$/.test(values.account) ? Number(values.account) : Number.NaN
    const isCommand = command === 'show' || command === 'new'
    if (!isCommand || rest.length > 0 || !(account <= accountMax)) return null
    return { command, account, values }
  } catch {
    return null // an unknown option
  }
}

function printPublic(terminal: Terminal, mnemonic: Mnemonic, account: number): void {
  const keys = openMnemonic(mnemonic)
  const text = keys.extendedPublicKey(account)
  const key = parseExtendedPublicKey(text)
  if (!key.ok) throw new Error(`the service does not take its own key: ${key.error}`)
  terminal.print(`Extended public key of ${accountPath(account)}, for TRON_XPUB:\n  ${text}`)
  terminal.print('First addresses:')
  for (let index = 0; index < shownAddresses; index += 1) {
    terminal.print(`  ${index}  ${formatBase58(deriveAddress(key.value, index))}  ${depositPath(account, index)}`)
  }
  const payoutKey = keyAt(mnemonic, payoutPath)
  if (payoutKey === null) throw new Error('it is a path')
  terminal.print(`Payout address, for PAYOUTS:\n     ${formatBase58(payoutKey.address)}  ${payoutPath}`)
  if (account === accountMax) return
  const gasPath = depositPath(account + 1, 0)
  terminal.print(`Gas address (for OPERATOR_ADDRESSES; wallets show it as the next account):`)
  terminal.print(`     ${formatBase58(keys.depositKey(account + 1, 0).address)}  ${gasPath}`)
}
