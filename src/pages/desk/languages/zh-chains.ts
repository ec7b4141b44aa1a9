import type { ChainTexts } from './en-chains.ts'

export const zhChains: ChainTexts = {
  noDeposit: '此处没有这笔交易的充值记录，节点也未能答复。',
  ownerNone: '与本服务的任何用户无关。',
  ownerLater: '尚不清楚。',
  chainCredited: '已入账',
  chainCreditedDo: '无需处理。再查询一次即可看到完整经过。',
  creditable: '已最终确认，尚未入账',
  creditableWhy: '尚未：扫描还没有到该区块。',
  creditableDo: '扫描到该区块时会自动入账。用户在充值页面的“我已付款，但没有显示”处查询此交易号，即可立即入账。',
  canBeInGap: '目前有区块未读取（见缺口），它可能在其中；这时只有用户自行查询才能很快入账。',
  notFinal: '已找到，尚未最终确认',
  notFinalDo: '无需处理，请一分钟后再查询。',
  unknownTxid: '此处和所有节点都没有这笔交易',
  unknownTxidWhy: '可能没有转出、通过其他网络转出，或交易号不完整。',
  undecided: '暂时无法判定',
  worthless: '已最终确认，没有可入账的金额',
  worthlessDo: '请向用户说明原因。它不会自动入账；如要补给用户，请由后端记一笔调整（`POST /ledger/entries`，类型 9）。',
  sayInBalance: (txid) => `您的付款已到账并计入余额（交易 ${txid}）。`,
  sayCreditable: (txid) =>
    `您的付款已到账，很快会计入余额（交易 ${txid}）。如需立即入账，请在充值页面的“我已付款，但没有显示”处粘贴此交易号。`,
  sayNotFinal: (txid, n) => `我们已找到交易 ${txid}。Tron 网络约 ${n} 秒后最终确认，转入您充值地址的金额随后自动入账。`,
  sayLateFinal: (txid) => `我们已找到交易 ${txid}。Tron 网络目前响应延迟，转入您充值地址的金额在最终确认后会自动入账。`,
  sayUnknown: (txid) =>
    `我们没有找到交易 ${txid}。如果刚刚转出，请等待一分钟；否则请在钱包中确认是否通过 Tron 网络转入您的充值地址，以及交易号是否完整。您也可以在充值页面的“我已付款，但没有显示”处自行查询。`,
  sayUndecided: (txid, why) => `我们已找到交易 ${txid}，但暂时无法入账。${why}`,
  sayWorthless: (txid, why) => `我们已检查交易 ${txid}，没有可入账的金额。${why}`,
}
