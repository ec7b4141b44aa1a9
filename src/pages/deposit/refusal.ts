import type { Refusal } from '../kit/api.ts'
import type { DepositContext } from './context.ts'

/** The cause of a refusal, in a few words of the page's language. */
export function refusalTitle({ texts }: DepositContext, { kind }: Refusal): string {
  if (kind === 'unauthorized') return texts.ended
  return kind === 'refused' ? texts.refusedRequest : texts[kind]
}

/** What the reader can do after a refusal, and that the money is safe. */
export function refusalHelp({ texts }: DepositContext, { kind }: Refusal): string {
  return kind === 'unauthorized' ? texts.endedHelp + texts.gap + texts.safe : texts.safe
}
