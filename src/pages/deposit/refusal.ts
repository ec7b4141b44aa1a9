import type { Refusal } from '../kit/api.ts'
import type { DepositContext } from './context.ts'

/** The cause of a refusal. */
export function refusalTitle({ texts }: DepositContext, { kind }: Refusal): string {
  if (kind === 'unauthorized') return texts.ended
  return kind === 'refused' ? texts.refusedRequest : texts[kind]
}

/** The cause of a refusal, what the reader can do, and that the money is safe. */
export function refusalHelp({ texts }: DepositContext, { kind }: Refusal): string {
  return kind === 'unauthorized' ? texts.endedHelp + texts.gap + texts.safe : texts.safe
}
