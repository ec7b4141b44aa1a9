/**
 * `npm run keys -- new | show`: prints the extended public key for `TRON_XPUB`, from a new mnemonic
 * or from one that is typed. It needs no network. Exit codes: 0, 1 (stopped, the reason is
 * printed), 2 (wrong options).
 */
import { parseArgs } from 'node:util'
import { deriveAddress, parseExtendedPublicKey } from '../../worker/addresses/derive.ts'
import { formatBase58 } from '../../worker/chain/address.ts'
import { requireKnownNode } from '../node-program.ts'
import { runTool } from '../run-tool.ts'
import { accountMax, accountPath, depositPath, keyAt, openMnemonic, payoutPath } from '../signing/account-key.ts'
import { askMnemonic, type Mnemonic, showNewMnemonic } from '../signing/mnemonic.ts'
import { createTerminal, type Terminal } from '../signing/terminal.ts'
import { OptionError, ToolError } from '../tool-error.ts'

const usage = `npm run keys -- new | show  [--account 0]
  --stdin       answers from the input, a line for each question
  --allow-pipe  print although the output goes to a file or a pipe`
const options = {
  account: { type: 'string', default: '0' },
  stdin: { type: 'boolean', default: false },
  'allow-pipe': { type: 'boolean', default: false },
} as const
const shownAddresses = 3

const firstLine = 'Acts on no database and no chain: it makes keys on this machine, and stores and sends nothing.'

const args = process.argv.slice(2)
process.exitCode = await runTool({ usage, options: Object.keys(options) }, args, process, async () => {
  requireKnownNode()
  const { command, account, values } = readArguments(args)
  const { stdin: input, stdout: output, stderr: questions } = process
  const terminal = createTerminal({ input, output, questions }, values.stdin)
  if (!terminal.isPrivate && !values['allow-pipe']) {
    throw new ToolError(
      'the output goes to a file or a pipe, where a mnemonic must not be',
      'run it at a terminal; --allow-pipe prints it there all the same',
    )
  }
  terminal.print(firstLine)
  const mnemonic = command === 'new' ? await showNewMnemonic(terminal) : await askMnemonic(terminal, 'Mnemonic')
  printPublic(terminal, mnemonic, account)
  input.destroy() // otherwise the open input would keep the process running
  return 0
})

function readArguments(args: readonly string[]) {
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [command, ...rest] = positionals
  if ((command !== 'show' && command !== 'new') || rest.length > 0) throw new OptionError('which command?')
  const account = /^\d{1,10}$/.test(values.account) ? Number(values.account) : Number.NaN
  if (!(account <= accountMax)) throw new OptionError(`--account: a whole number from 0 to ${accountMax}`)
  return { command, account, values }
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
  const { address } = keyAt(mnemonic, payoutPath)
  terminal.print(`Payout address, for PAYOUTS:\n     ${formatBase58(address)}  ${payoutPath}`)
  if (account === accountMax) return
  const gasPath = depositPath(account + 1, 0)
  terminal.print(`Gas address (for OPERATOR_ADDRESSES; wallets show it as the next account):`)
  terminal.print(`     ${formatBase58(keys.depositKey(account + 1, 0).address)}  ${gasPath}`)
}
