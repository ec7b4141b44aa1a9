import type { Refusal } from '../kit/api.ts'
import type { DepositContext } from './context.ts'

/** What happened. */
export function refusalTitle({ texts }: DepositContext, { kind }: Refusal): string {
  if (kind === 'unauthorized') return texts.ended
  return kind === 'refused' ? texts.refusedRequest : texts[kind]
}

/** What happened, what the reader can do, and that the money is safe. */
export function refusalHelp({ texts }: DepositContext, { kind }: Refusal): string {
  return kind === 'unauthorized' ? texts.endedHelp + texts.gap + texts.safe : texts.safe
}
