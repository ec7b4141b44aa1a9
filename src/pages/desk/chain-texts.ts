import type { TextTable } from '../kit/texts.ts'

/** What the desk says about a transaction by what the chain says, and why something is not credited. */
export const chainTexts = {
  noDeposit: [
    'No deposit of this transaction is stored here, and the nodes could not be asked.',
    '此处没有这笔交易的充值记录，节点也未能答复。',
  ],
  ownerNone: ['It concerns no user of this service.', '与本服务的任何用户无关。'],
  ownerLater: ['Not known yet.', '尚不清楚。'],
  chainCredited: ['It is credited', '已入账'],
  chainCreditedDo: [
    'Nothing has to be done. Look it up again, and its whole story is here.',
    '无需处理。再查询一次即可看到完整经过。',
  ],
  creditable: ['It is final, and not credited yet', '已最终确认，尚未入账'],
  creditableWhy: ['Not yet: the scan has not come to its block.', '尚未：扫描还没有到该区块。'],
  creditableDo: [
    'The scan credits it by itself when it comes to its block. The user has it at once by asking for this txid on the deposit page, at “I paid, but nothing shows”.',
    '扫描到该区块时会自动入账。用户在充值页面的“我已付款，但没有显示”处查询此交易号，即可立即入账。',
  ],
  canBeInGap: [
    'Blocks are unread at the moment (see Gaps): it can be in one of them, and then only the question of the user credits it soon.',
    '目前有区块未读取（见缺口），它可能在其中；这时只有用户自行查询才能很快入账。',
  ],
  notFinal: ['It is found, and not final yet', '已找到，尚未最终确认'],
  notFinalDo: ['Nothing has to be done. Look it up again in a minute.', '无需处理，请一分钟后再查询。'],
  unknownTxid: ['This transaction is not known here, nor to any node', '此处和所有节点都没有这笔交易'],
  unknownTxidWhy: [
    'It was not sent, was sent on another network, or the txid is not complete.',
    '可能没有转出、通过其他网络转出，或交易号不完整。',
  ],
  unknownTxidDo: [
    'Ask the user for the txid as the wallet shows it, and for the network: it has to be Tron (TRC-20 for tokens). If it was sent just now, look it up again in a minute.',
    '请向用户索要钱包中显示的交易号和所用网络：必须是 Tron（代币为 TRC-20）。如果刚刚转出，请一分钟后再查询。',
  ],
  undecided: ['It cannot be decided yet', '暂时无法判定'],
  undecidedDo: [
    'Look it up again in a few minutes. If it stays, run `npm run doctor -- --production`: it shows which node is wrong.',
    '请几分钟后再查询。如果持续，请运行 `npm run doctor -- --production`，它会指出出错的节点。',
  ],
  worthless: ['It is final, and nothing of it is credited', '已最终确认，没有可入账的金额'],
  worthlessDo: [
    'Tell the user why. It is never credited by itself; to give it anyway, have a backend post an adjustment (`POST /ledger/entries`, type 9).',
    '请向用户说明原因。它不会自动入账；如要补给用户，请由后端记一笔调整（`POST /ledger/entries`，类型 9）。',
  ],

  sayInBalance: [
    (txid) => `Your payment has arrived and is in your balance (transaction ${txid}).`,
    (txid) => `您的付款已到账并计入余额（交易 ${txid}）。`,
  ],
  sayCreditable: [
    (txid) =>
      `Your payment has arrived and is credited to your balance soon (transaction ${txid}). To have it at once, paste this number on the deposit page, at “I paid, but nothing shows”.`,
    (txid) =>
      `您的付款已到账，很快会计入余额（交易 ${txid}）。如需立即入账，请在充值页面的“我已付款，但没有显示”处粘贴此交易号。`,
  ],
  sayNotFinal: [
    (txid, n) =>
      `We have found the transaction ${txid}. The Tron network makes it final in about ${n} s; what it pays to your deposit address is then credited by itself.`,
    (txid, n) => `我们已找到交易 ${txid}。Tron 网络约 ${n} 秒后最终确认，转入您充值地址的金额随后自动入账。`,
  ],
  sayLateFinal: [
    (txid) =>
      `We have found the transaction ${txid}. The answers of the Tron network are late just now; what it pays to your deposit address is credited by itself once it is final.`,
    (txid) => `我们已找到交易 ${txid}。Tron 网络目前响应延迟，转入您充值地址的金额在最终确认后会自动入账。`,
  ],
  sayUnknown: [
    (txid) =>
      `We cannot find the transaction ${txid}. If you sent it just now, please wait a minute. Otherwise please look in your wallet whether it was sent on the Tron network, to your address, and whether the number is complete. You can look it up yourself on the deposit page, at “I paid, but nothing shows”.`,
    (txid) =>
      `我们没有找到交易 ${txid}。如果刚刚转出，请等待一分钟；否则请在钱包中确认是否通过 Tron 网络转入您的充值地址，以及交易号是否完整。您也可以在充值页面的“我已付款，但没有显示”处自行查询。`,
  ],
  sayUndecided: [
    (txid, why) => `We have found the transaction ${txid}, but it cannot be credited yet. ${why}`,
    (txid, why) => `我们已找到交易 ${txid}，但暂时无法入账。${why}`,
  ],
  sayWorthless: [
    (txid, why) => `We have looked at the transaction ${txid}. Nothing of it is credited. ${why}`,
    (txid, why) => `我们已检查交易 ${txid}，没有可入账的金额。${why}`,
  ],

  disagree: ['The Tron nodes disagree about this transaction.', 'Tron 节点对这笔交易不一致。'],
  unreadable: ['This service cannot read this transaction.', '本服务无法解析这笔交易。'],
  forked: ['Nothing is credited until an operator has checked the chain.', '在运营者检查链之前不会入账。'],
  misconfigured: [
    'Nothing is credited until an operator has corrected the settings.',
    '在运营者更正设置之前不会入账。',
  ],
  early: [
    'It was final before the address belonged to its present user.',
    '在该地址分配给现在的用户之前，它已最终确认。',
  ],
  failed: ['The transaction failed, so it paid nothing.', '这笔交易执行失败，没有付款。'],
  failedDo: ['Nothing has to be done: the sender still has the money.', '无需处理：资金仍在付款方。'],
  elsewhere: ['It pays no address of this service.', '它没有转入本服务的任何地址。'],
  elsewhereDo: [
    'Compare its recipient in an explorer with the address of the user. What went to another address is not here, and only its owner can send it back.',
    '请用区块浏览器核对收款地址与用户的充值地址。转入其他地址的资金不在此处，只有该地址的所有者能退回。',
  ],
  internal: ['It was sent by this service or its operator, so it is no deposit.', '由本服务或运营者转出，不是充值。'],
  internalDo: [
    'Nothing has to be done: collecting money and paying for energy look like this.',
    '无需处理：归集和支付能量费就是这样。',
  ],
  zero: ['It transfers an amount of 0.', '转账金额为 0。'],
  zeroDo: [
    'Nothing has to be done. Such transfers imitate payments, so that people copy a wrong address from them.',
    '无需处理：这类转账冒充付款，诱人从中复制错误的地址。',
  ],
  foreign: ['It sends something that is not accepted here.', '转入的资产不在受支持之列。'],
  foreignDo: [
    'Only what is in `CURRENCIES` is credited. The address has it, and whoever has the keys can send it back; decide with the user.',
    '只有 `CURRENCIES` 中的币种会入账。资产在该地址上，持有私钥者可以退回，请与用户商定。',
  ],
  otherKind: [
    'It is another kind of transaction, and no payment in an accepted currency.',
    '这是其他类型的交易，不是受支持币种的付款。',
  ],
  otherKindDo: [
    'Tell the user what it is, by the sentence of the service above. Nothing arrived that can be credited.',
    '请按上面的服务原文向用户说明。没有可入账的资金到账。',
  ],

  decimalsUnknown: ['The decimals of its contract could not be read yet.', '合约的小数位数尚未读取成功。'],
  decimalsUnknownDo: [
    'It is decided by itself once the nodes agree about the contract. If it stays for an hour, look at the nodes.',
    '节点对合约一致后会自动处理。如果超过一小时，请检查节点。',
  ],
  decimalsDiffer: ['The decimals of its contract are not those of the settings.', '合约的小数位数与设置不同。'],
  retired: ['Its currency is not accepted any more.', '该币种已不再接受。'],
  retiredDo: [
    'Take `retired` off the currency in `CURRENCIES`, and they are credited by themselves; or give the money back.',
    '在 `CURRENCIES` 中取消该币种的 `retired`，会自动入账；或退还资金。',
  ],
  tooLarge: ['It is too large for one entry.', '金额超出单笔记录的上限。'],
  tooLargeDo: ['Decide with the user. It is never credited by itself.', '请与用户商定，不会自动入账。'],
  review: ['A person looks at it before it is credited, or has refused it.', '入账前需人工审核，或已被审核拒绝。'],
  reviewDo: [
    'Have a backend decide: credit it, or refuse it. What was refused can still be credited.',
    '请由后端作出决定：入账或拒绝。已拒绝的仍可改为入账。',
  ],
  walletFull: ['The wallet of the user has no room for it.', '用户钱包已达上限。'],
  walletFullDo: ['It is credited by itself as soon as the user has spent enough.', '用户支出后有空间时会自动入账。'],
  belowMinimum: ['It is below the minimum.', '低于最低金额。'],
  belowMinimumDo: [
    'Nothing has to be done. To give it anyway, have a backend post an adjustment (`POST /ledger/entries`, type 9).',
    '无需处理。如要补给用户，请由后端记一笔调整（`POST /ledger/entries`，类型 9）。',
  ],
  dust: ['It is less than the smallest amount that is counted.', '小于可记账的最小金额。'],
} as const satisfies TextTable
