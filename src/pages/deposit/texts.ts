import type { TextsOf, TextTable } from '../kit/texts.ts'

/** What the page for deposits says. */
export const depositTexts = {
  title: ['Deposit', '充值'],
  nameTron: ['Tron network', 'Tron（波场）网络'],
  nameNile: ['Nile test network', 'Nile 测试网'],
  nameLocal: ['local test chain', '本地测试链'],
  testMoney: [(network) => `${network}: worthless test money`, (network) => `${network}：测试币没有价值`],
  gap: [' ', ''],
  stop: ['.', '。'],

  chooseHeading: ['Choose what you send', '选择要充值的币种'],
  nativeKind: ['Tron’s own coin', 'Tron 网络的原生币'],
  tokenKind: ['A token on Tron (TRC-20)', 'Tron 上的代币（TRC-20）'],
  payHeading: ['Send it to your address', '向您的地址转账'],
  chooseFirst: [
    'Choose above what you send. Then your address appears here.',
    '请先在上面选择币种，然后这里会显示您的充值地址。',
  ],
  onlyHere: [
    (symbol, network) => `Send only ${symbol}, only on the ${network}`,
    (symbol, network) => `只能通过 ${network}转入 ${symbol}`,
  ],
  elseLost: [
    'Any other token, or the same one on another network such as Ethereum or BNB Chain, is lost and cannot be brought back.',
    '转入其他代币，或通过以太坊、BNB Chain 等其他网络转入，资产将丢失且无法找回。',
  ],
  realLost: [
    'This is for testing. Never send real money to this address: it would be lost.',
    '仅供测试。切勿向此地址转入真实资产，否则将会丢失。',
  ],
  network: ['Network', '网络'],
  standard: [(network) => `${network} (TRC-20)`, (network) => `${network}（TRC-20）`],
  networkHelp: ['Choose it in the wallet or exchange that you send from.', '请在转出的钱包或交易所中选择此网络。'],
  minimum: ['Minimum', '最低金额'],
  minimumHelp: ['Less than this is not credited.', '低于此金额不会入账。'],
  noMinimum: ['None', '无'],
  noMinimumHelp: ['What arrives is credited, without the fee of your wallet.', '按实际到账金额入账，不含钱包手续费。'],
  address: ['Your address', '您的充值地址'],
  qrOf: [(address) => `QR code of the address ${address}`, (address) => `地址 ${address} 的二维码`],
  copyAddress: ['Copy the address', '复制地址'],
  compare: ['After pasting, compare the first and the last characters.', '粘贴后，请核对开头和结尾的几个字符。'],
  keep: ['It stays yours: you can use it again.', '该地址永久属于您，可以重复使用。'],
  addressMissing: ['Do not send anything yet', '请先不要转账'],
  addressMissingHelp: [
    'Your address could not be loaded. It appears here as soon as the service answers.',
    '暂时无法加载您的充值地址。服务恢复后会自动显示在这里。',
  ],
  noCurrencies: [
    'Deposits are closed at the moment: no currency is accepted. Please do not send anything.',
    '目前暂停充值，不接受任何币种。请不要转账。',
  ],

  arrivalsHeading: ['Watch it arrive', '查看到账进度'],
  nothingYet: ['Nothing has arrived yet', '还没有收到转账'],
  byItself: [
    'What you send shows here by itself. You may close this page: your deposit does not need it.',
    '转账会自动显示在这里。您可以关闭本页面，不影响入账。',
  ],
  stepSeen: [
    'Found on the network, about half a minute after your wallet has sent it',
    '在网络上发现：钱包转出约半分钟后',
  ],
  stepFinal: ['Final, about a minute later: it cannot be undone any more', '最终确认：约一分钟后，不可撤销'],
  stepCredited: ['Credited: it is in your balance', '入账：计入您的余额'],
  seen: ['On its way', '已发现'],
  held: ['Arrived, not credited yet', '已到账，暂未入账'],
  credited: ['Credited', '已入账'],
  refused: ['Not credited', '未入账'],
  dropped: ['No longer on the network', '已不在网络上'],
  finalIn: [
    (seconds) => `Found on the network. Final in ${seconds} s, then it is credited.`,
    (seconds) => `已在网络上发现，${seconds} 秒后最终确认并入账。`,
  ],
  finalNow: ['Found on the network. Becoming final now …', '已在网络上发现，正在最终确认……'],
  creditedHelp: ['It is in your balance.', '已计入您的余额。'],
  droppedHelp: [
    'The network has replaced the block that it was in. It usually comes again within a minute and shows here. If not, your wallet still has the money.',
    '该转账所在的区块已被网络替换。通常一分钟内会重新出现；若没有，资金仍在您的钱包中。',
  ],
  heldUnclear: [
    'Your money is safe. It is credited by itself when the network has answered about this token.',
    '您的资金安全。网络返回该代币的信息后会自动入账。',
  ],
  heldOperator: [
    'Your money has arrived and is kept. The operator has to look at it: please show them the transaction number.',
    '您的资金已到账并被妥善保管，需要运营方处理，请向其提供交易号。',
  ],
  heldRetired: [
    'Your money has arrived and is kept, but this currency is not accepted at the moment. Please ask the operator.',
    '您的资金已到账并被妥善保管，但目前不接受该币种，请联系运营方。',
  ],
  heldFull: [
    'Your money has arrived and is kept. Your balance cannot hold more now; it is credited when there is room.',
    '您的资金已到账并被妥善保管。您的余额已达上限，有空间后会入账。',
  ],
  belowMinimum: [
    'It has arrived, but it is below the minimum. It is recorded; please ask the operator about it.',
    '转账已到账，但低于最低金额。已有记录，请联系运营方。',
  ],
  dust: [
    'It has arrived, but it is smaller than the smallest amount that is counted.',
    '转账已到账，但小于可记账的最小金额。',
  ],
  transaction: ['Transaction', '交易'],
  copyTransaction: ['Copy the transaction number', '复制交易号'],
  older: ['Show older', '显示更早的记录'],
  checkNow: ['Check now', '立即检查'],
  checking: ['Checking …', '正在检查……'],
  checked: ['Checked just now. What was found shows above.', '已检查。发现的转账显示在上面。'],

  questionHeading: ['I paid, but nothing shows', '我已付款，但没有显示'],
  questionHelp: [
    'Paste the transaction number (also called txid or hash). Your wallet or exchange shows it with the payment that you sent.',
    '请粘贴交易号（也叫 txid 或哈希）。它显示在您钱包或交易所的转账记录中。',
  ],
  txid: ['Transaction number', '交易号'],
  ask: ['Look it up', '查询'],
  asking: ['Looking …', '正在查询……'],
  notTxid: [
    'That is no transaction number: it has 64 characters, digits and the letters a to f. Copy it whole.',
    '这不是交易号：交易号共 64 个字符，由数字和字母 a 到 f 组成。请完整复制。',
  ],
  askCredited: ['It is credited: the money is in your balance.', '已入账，资金已计入您的余额。'],
  askUnknown: [
    'The Tron network does not know this transaction. If you sent it just now, try again in a minute. If not, it was sent on another network, or the number is not complete: look in the wallet that you sent from.',
    'Tron 网络上没有这笔交易。如果刚刚转出，请一分钟后再试；否则可能是通过其他网络转出，或交易号不完整，请在转出的钱包中核对。',
  ],
  askNotFinal: [
    (seconds) =>
      `It is found and safe. The network makes it final in about ${seconds} s; then it is credited by itself.`,
    (seconds) => `已找到，资金安全。约 ${seconds} 秒后最终确认，随后自动入账。`,
  ],
  askUndecided: [
    'It is found, but cannot be decided yet. Nothing is lost by waiting: it is looked at again by itself. If this stays, please show the operator the transaction number.',
    '已找到，但目前无法判定。等待不会造成损失，系统会自动再次检查。如果一直如此，请向运营方提供交易号。',
  ],
  askWorthless: [
    'It is final, but it brought nothing to your account. The reason is below. If you think that this is wrong, please show the operator the transaction number.',
    '交易已最终确认，但没有给您的账户带来入账，原因如下。如有疑问，请向运营方提供交易号。',
  ],
  askLater: [
    (seconds) =>
      `It could not be looked up now. Please try again in ${seconds} s. What you have sent is credited without asking.`,
    (seconds) => `暂时无法查询，请 ${seconds} 秒后再试。已转出的资金无需查询也会入账。`,
  ],

  balancesHeading: ['Balance', '余额'],
  historyHeading: ['History', '历史记录'],
  historyEmpty: ['No entries yet', '暂无记录'],
  historyEmptyHelp: ['Your first deposit shows here when it is credited.', '首笔充值入账后会显示在这里。'],
  filter: ['Currency', '币种'],
  all: ['All', '全部'],
  entry: ['Entry', '记录'],
  amount: ['Amount', '金额'],
  amountAndBalance: ['Amount and balance', '金额与余额'],
  balance: ['Balance', '余额'],
  balanceAfter: [(amount) => `Balance ${amount}`, (amount) => `余额 ${amount}`],
  time: ['Time', '时间'],
  reference: ['Reference', '参考号'],
  remark: ['Remark', '备注'],
  type1: ['Deposit', '充值'],
  type2: ['Withdrawal', '提现'],
  type3: ['Transfer', '转账'],
  type4: ['Payment', '支付'],
  type5: ['Refund', '退款'],
  type9: ['Adjustment', '调整'],
  typeOther: ['Entry', '记录'],
  download: ['Download as CSV', '下载 CSV'],
  downloading: [(done, all) => `Reading ${done} of ${all} …`, (done, all) => `正在读取 ${done} / ${all}……`],
  balanceOf: [(symbol) => `Balance in ${symbol}`, (symbol) => `${symbol} 余额`],
  balanceSummary: [
    (symbol, first, last) => `Line chart of the balance in ${symbol}, from ${first} to ${last}`,
    (symbol, first, last) => `${symbol} 余额折线图，从 ${first} 到 ${last}`,
  ],
  safe: [
    'Money that you have sent is safe: it is credited even when this page is closed.',
    '您已转出的资金是安全的：即使关闭本页面也会入账。',
  ],
} as const satisfies TextTable

/** What the page for deposits says, in one language. */
export type DepositTexts = TextsOf<typeof depositTexts>
