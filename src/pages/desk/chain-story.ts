import type { Reason } from '../../worker/common/reasons.ts'
import { type Child, html } from '../kit/dom.ts'
import type { DeskAnswer } from './answer.ts'
import type { DeskContext } from './context.ts'
import type { ChainFinding } from './data.ts'
import { small, storyButton } from './parts.ts'
import { reasonWords } from './reasons.ts'
import { refusalElements } from './refusal.ts'
import { forUser, line, named, type Step, steps } from './steps.ts'
import { remedyOf } from './words.ts'

/**
 * The words about a transaction: a title, what support should do (`remedy`), and a text to send to
 * the user (`say`).
 */
interface AnswerWords {
  readonly title: string
  /** The last step that the transaction has reached. */
  readonly step: Step
  readonly remedy: string
  readonly say: string
}

/** The story of a transaction of which no deposit is stored, from what the nodes say about it. */
export function chainElements(context: DeskContext, { txid, found }: Extract<DeskAnswer, { kind: 'chain' }>): Child[] {
  const { texts, model } = context
  const chain = context.texts.chain
  const head = named(texts.transaction, txid)
  if (!found.ok) return [head, ...refusalElements(context, found), line(chain.noDeposit)]
  const { uid, answer, why } = found.data
  const { title, step, remedy, say } = answerWords(context, txid, found.data)
  const isStopping = model.summary?.payouts?.stopped?.txids.includes(txid) === true
  const isInGap = answer === 'creditable' && (model.summary?.gaps.length ?? 0) > 0
  const list: readonly Step[] = [
    ...(answer === 'unknown' ? [] : [ownerStep(context, uid, answer)]),
    [...step, small(why, 'en')],
    [
      'wait',
      texts.stepDo,
      line(isStopping ? remedyOf(context, 'payout-unknown') : remedy),
      isInGap ? line(chain.canBeInGap) : null,
    ],
  ]
  if (isStopping) return [head, html('h3', {}, texts.stoppedUnknown), steps(list)]
  return [head, html('h3', {}, title), steps(list), forUser(context, say)]
}

/**
 * Reasons that each cover several kinds of transactions, so that only the service's own sentence
 * says which kind this is.
 */
const vague: readonly unknown[] = ['not-accepted', 'trc10', 'not-a-transfer'] satisfies Reason[]

function ownerStep(context: DeskContext, uid: number | null, answer: string): Step {
  const { texts } = context
  const chain = context.texts.chain
  if (uid !== null) return ['done', texts.stepOwner, storyButton(context, texts.user(String(uid)), String(uid))]
  return ['wait', texts.stepOwner, line(answer === 'worthless' ? chain.ownerNone : chain.ownerLater)]
}

function answerWords(context: DeskContext, txid: string, { answer, reason, seconds, why }: ChainFinding): AnswerWords {
  const { texts, format } = context
  const chain = context.texts.chain
  const words = reasonWords(context, reason, why)
  const because: Step = ['no', texts.stepWhy, reason === null ? null : line(words.why)]
  switch (answer) {
    case 'credited': {
      const step: Step = ['done', texts.stepCredited, line(texts.finalYes)]
      return { title: chain.chainCredited, step, remedy: chain.chainCreditedDo, say: chain.sayInBalance(txid) }
    }
    case 'creditable': {
      const step: Step = ['wait', texts.stepCredited, line(chain.creditableWhy)]
      return { title: chain.creditable, step, remedy: chain.creditableDo, say: chain.sayCreditable(txid) }
    }
    case 'not-final': {
      if (seconds === null) {
        const step: Step = ['wait', texts.stepFinal, line(texts.finalLate)]
        return { title: chain.notFinal, step, remedy: chain.notFinalDo, say: chain.sayLateFinal(txid) }
      }
      const left = format.count(seconds)
      const step: Step = ['wait', texts.stepFinal, line(texts.finalIn(left))]
      return { title: chain.notFinal, step, remedy: chain.notFinalDo, say: chain.sayNotFinal(txid, left) }
    }
    case 'unknown': {
      const step: Step = ['no', texts.stepWhy, line(chain.unknownTxidWhy)]
      return { title: chain.unknownTxid, step, remedy: texts.unknownTxidDo, say: chain.sayUnknown(txid) }
    }
    case 'worthless': {
      const isVague = vague.includes(reason) // the service's sentence says which kind
      const say = chain.sayWorthless(txid, isVague ? `${words.why} “${why}”` : words.why)
      return { title: chain.worthless, step: because, remedy: words.remedy || chain.worthlessDo, say }
    }
    default: {
      const say = chain.sayUndecided(txid, words.why)
      return { title: chain.undecided, step: because, remedy: words.remedy || texts.undecidedDo, say }
    }
  }
}
