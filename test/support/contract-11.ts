import type { DepositStep, Fact, PayoutStep } from '../../src/worker/ledger/stops.ts'

// Which fact stops which step, written out by hand from the contract's sections 5 and 11. Three
// tests compare the table of the service, what the service does, and what the database refuses with
// it.

type Step = PayoutStep | DepositStep

/**
 * `-`: the step is stopped. `+`: it is not.
 *
 * - "While the chain is known to be forked, the database restored, a token's decimals not agreed or
 *   not the configured ones, the currency paused, deprecated, with an unconfirmed fee, or the
 *   payout address frozen in it: no rule approves, nothing is offered, taken, sent or given back."
 * - "Cancelling is 409 `chain-forked` while a fork is known, as while an unknown transaction or a
 *   restore stops payouts."
 * - "Asking itself is refused only for what cannot be written down: decimals, a fork."
 * - "A transaction from `address` in a final block that no payout names … stops the offer of
 *   unsigned ones, until the signer has handed in its bytes, which it still may": `take` and
 *   `recover`. Only while the chain is forked is nobody to say that a block contains it.
 * - "`address` … refused as a configuration where it was issued here, and, while a payout is
 *   `signed`, where it is another one than before": no new transaction.
 * - Deprecated is the exception of decision 68: it never ends, so what is open can be cancelled.
 * - "While the chain is known to be forked nothing is credited by any path."
 * - "`decimals` … where they differ nothing of it is credited." "`retired` … what arrives is kept,
 *   uncredited." "Balances and entries are shown and can be spent."
 * - "A transfer from one of them [the operator's own wallets] is a movement, never a deposit":
 *   nothing is decided about it.
 */
const written = `
                     ask rule approve cancel offer take recover send credit decide refuse find
forked                -   -     +       -      -    -      -     -     -      -      +     -
address-replaced      +   +     +       +      -    -      +     +     +      +      +     +
unknown-transaction   +   +     +       -      -    +      +     +     +      +      +     +
restored              +   -     +       -      -    -      +     -     +      +      +     +
from-operator         +   +     +       +      +    +      +     +     -      -      -     +
retired               +   +     +       +      +    +      +     +     -      +      +     +
decimals-differ       -   -     +       -      -    -      +     -     -      +      +     +
decimals-unknown      -   -     +       -      -    -      +     -     -      +      +     +
frozen                +   -     +       -      -    -      +     -     +      +      +     +
paused                +   -     +       -      -    -      +     -     +      +      +     +
fee-unconfirmed       +   -     +       -      -    -      +     -     +      +      +     +
deprecated            +   -     +       +      -    -      +     -     +      +      +     +
`

const [head = [], ...rows] = written
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/))

/** Every fact that the contract names, in the order of precedence. */
export const facts = rows.map(([fact]) => fact as Fact)
/** Every step that the contract names. */
export const steps = head as readonly Step[]

/** Whether the contract lets this step be taken while this fact holds. */
export function mayGoOnBy(fact: Fact, step: Step): boolean {
  const row = rows.find(([name]) => name === fact)
  const cell = row?.[1 + head.indexOf(step)]
  if (cell !== '+' && cell !== '-') throw new Error(`the contract says nothing of ${fact} and ${step}`)
  return cell === '+'
}
