import type { InAnyLanguage } from '../kit/texts.ts'

const en = {
  approve: 'Approve',
  cancel: 'Cancel',
  credit: 'Credit',
  refuse: 'Refuse',
  whom: 'To',
  user: 'For',
  order: 'Order (osn)',
  askedBy: 'Asked for by',
  arrived: 'Arrived at',
  transaction: 'Transaction',
  approveEffect: (amount: string) =>
    `The signer is offered it next. Until it is signed it can be cancelled; after that nobody can take ${amount} back.`,
  againEffect: (amount: string) =>
    `Up to three more transactions are tried. Once one is signed, nobody can take ${amount} back.`,
  cancelEffect: (back: string) => `It is not paid, and ${back} is back in the balance of its user at once.`,
  creditEffect: (amount: string) => `${amount} is added to the balance of its user at once, and stays there.`,
  refuseEffect: 'Nothing is credited. It can still be credited later.',
  why: 'Why',
  whyHelp: 'It is kept with your name, for those who look later.',
  whyMissing: 'Say why, in a few words: it is kept with your name.',
  known: 'I know what has left, and who pays for it.',
  leftHelp: 'Money may have left for it. Find out what the sentence below means, and say that you know it.',
  again: 'Nobody knows whether it was done. Press it again: it is done once.',
  confirm: {
    approve: 'Approve the payout',
    cancel: 'Cancel the payout',
    credit: 'Credit the deposit',
    refuse: 'Refuse the deposit',
  },
  back: 'Back',
} as const

export type ActionTexts = InAnyLanguage<typeof en>

const zh: ActionTexts = {
  approve: '批准',
  cancel: '取消',
  credit: '入账',
  refuse: '拒绝',
  whom: '收款地址',
  user: '用户',
  order: '订单号（osn）',
  askedBy: '申请方',
  arrived: '转入地址',
  transaction: '交易',
  approveEffect: (amount) => `随后提供给签名程序。签名前可以取消；签名后无人能收回 ${amount}。`,
  againEffect: (amount) => `最多再尝试三笔交易。签名后无人能收回 ${amount}。`,
  cancelEffect: (back) => `不再付款，${back} 立即退回其用户的余额。`,
  creditEffect: (amount) => `${amount} 立即计入其用户的余额，不再撤回。`,
  refuseEffect: '不入账。以后仍可改为入账。',
  why: '原因',
  whyHelp: '原因与您的名称一起保存，供日后查看。',
  whyMissing: '请简单说明原因，它与您的名称一起保存。',
  known: '我知道转出了什么，以及由谁承担。',
  leftHelp: '可能已有资金转出。请查明下面原文的含义，并确认您已知晓。',
  again: '无法确定是否已执行。请再按一次：只会执行一次。',
  confirm: { approve: '批准提现', cancel: '取消提现', credit: '充值入账', refuse: '拒绝充值' },
  back: '返回',
}

/** The texts of the forms of actions. */
export const actionTexts = { en, zh } as const
