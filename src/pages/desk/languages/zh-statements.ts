import type { StatementTexts } from './en-statements.ts'

export const zhStatements: StatementTexts = {
  period: '期间',
  day: '日',
  month: '月',
  user: '用户（留空为全部）',
  badUser: '用户编号须为整数',
  show: '显示',
  print: '打印',
  reading: (done, all) => `正在读取 ${done} / ${all}……`,
  ofAll: (period) => `全部用户：${period}（UTC）`,
  ofUser: (uid, period) => `用户 ${uid}：${period}（UTC）`,
  running: (until) => `该期间尚未结束，截至 ${until}（UTC）。`,
  ofType: (type, n) => `${type}（${n}）`,
  before: (amount) => `期初：${amount}`,
  change: (amount) => `变动：${amount}`,
  after: (amount) => `期末：${amount}`,
  balance: (amount) => `余额 ${amount}`,
  none: '没有记录',
  holdings: '应付、持有及其差额：截至目前',
  words: { payout: '提现付款', fee: '提现手续费', 'payout-refund': '提现退回', order: '订单付款' },
}
