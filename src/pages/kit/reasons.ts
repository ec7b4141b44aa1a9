/** How each sentence that the service has for a transaction without a credit is known, with its reason. The first one counts. */
const sentences: readonly (readonly [form: RegExp, reason: string])[] = [
  [/could not be read yet/, 'decimals-unknown'],
  [/differ from the configured/, 'decimals-differ'],
  [/no longer accepted/, 'retired'],
  [/too large for one entry/, 'too-large'],
  [/has no room/, 'wallet-full'],
  [/looked at/, 'review'],
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

/** The reason in a sentence of the service; null where the pages do not know it. */
export const reasonOf = (sentence: string) => sentences.find(([form]) => form.test(sentence))?.[1] ?? null

/** Whether a sentence of the service says that nobody knows when a transaction is final. */
export const isLate = (sentence: string) => /the answers of the network are late/.test(sentence)
