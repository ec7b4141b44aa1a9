import type { DeskContext } from './context.ts'
import { remedyOf } from './words.ts'

/** Why something is not credited, and what to do. */
export interface ReasonWords {
  readonly why: string
  /** Empty for a reason that this page does not know. */
  readonly remedy: string
}

/** How each sentence that the service has for a transaction without a credit is known, with its reason. The first one counts. */
const sentences: readonly (readonly [form: RegExp, reason: string])[] = [
  [/could not be read yet/, 'decimals-unknown'],
  [/differ from the configured/, 'decimals-differ'],
  [/no longer accepted/, 'retired'],
  [/too large for one entry/, 'too-large'],
  [/has no room/, 'wallet-full'],
  [/below the smallest deposit/, 'below-minimum'],
  [/smallest amount in a wallet/, 'dust'],
  [/the nodes disagree/, 'nodes-disagree'],
  [/cannot read this transaction/, 'unreadable'],
  [/show another chain/, 'forked'],
  [/corrected the configuration/, 'misconfigured'],
  [/before this address was issued/, 'early'],
  [/transaction failed/, 'failed'],
  [/no transfer to one of your/, 'elsewhere'],
  [/own deposit addresses|internal transfers are not|by the operator of this/, 'internal'],
  [/^it transfers 0 /, 'zero'],
  [/not an accepted/, 'foreign'],
  [/^this |not a token transfer/, 'other'],
]

/** The reason in a sentence of the service; null where this page does not know it. */
export const reasonIn = (why: string) => sentences.find(([form]) => form.test(why))?.[1] ?? null

/** The words for a reason. One that this page does not know has those of the service, as a quotation. */
export function reasonWords(context: DeskContext, reason: string | null, why: string | null): ReasonWords {
  const { texts } = context
  const known: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
    'decimals-unknown': [texts.decimalsUnknown, texts.decimalsUnknownDo],
    'decimals-differ': [texts.decimalsDiffer, remedyOf(context, 'decimals-differ')],
    retired: [texts.retired, texts.retiredDo],
    'too-large': [texts.tooLarge, texts.tooLargeDo],
    'wallet-full': [texts.walletFull, texts.walletFullDo],
    'below-minimum': [texts.belowMinimum, texts.belowMinimumDo],
    dust: [texts.dust, texts.belowMinimumDo],
    'nodes-disagree': [texts.disagree, texts.undecidedDo],
    unreadable: [texts.unreadable, remedyOf(context, 'transaction-unreadable')],
    forked: [texts.forked, remedyOf(context, 'chain-forked')],
    misconfigured: [texts.misconfigured, texts.wrongSettingHelp],
    early: [texts.early, remedyOf(context, 'paid-before-issue')],
    failed: [texts.failed, texts.failedDo],
    elsewhere: [texts.elsewhere, texts.elsewhereDo],
    internal: [texts.internal, texts.internalDo],
    zero: [texts.zero, texts.zeroDo],
    foreign: [texts.foreign, texts.foreignDo],
    other: [texts.otherKind, texts.otherKindDo],
  }
  const words = reason !== null && Object.hasOwn(known, reason) ? known[reason] : undefined
  return { why: words?.[0] ?? `“${why ?? reason ?? ''}”`, remedy: words?.[1] ?? '' }
}
