import type { TextsOf, TextTable } from '../kit/texts.ts'

/** Who helps where the page cannot: the page itself knows no name and no address of them. */
const support = 'the support of the site or app that gave you this page'
const supportInChinese = '向您提供本页面的网站或应用的客服'

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
  payFrom: [
    (symbols, network) =>
      `You pay from a crypto wallet app or an exchange account that holds ${symbols}. The network to choose there is ${network}. Cards and bank transfers do not work here.`,
    (symbols, network) =>
      `请从持有 ${symbols} 的加密货币钱包应用或交易所账户转出，转出时选择的网络是 ${network}。不支持银行卡和银行转账。`,
  ],
  or: [' or ', ' 或 '],
  asTron: ['TRON (for tokens: TRC-20)', 'TRON（代币选 TRC-20）'],
  nativeKind: ['Tron’s own coin', 'Tron 网络的原生币'],
  tokenKind: ['A token on Tron (TRC-20)', 'Tron 上的代币（TRC-20）'],
  payHeading: ['Send it to your address', '向您的地址转账'],
  payHelp: [
    'Your address is kept for you by this service: money that arrives there is added to your balance here.',
    '该地址由本服务为您保留：转到该地址的资金会计入您在这里的余额。',
  ],
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
  networkHelp: [
    'Choose it in the wallet or exchange that you send from. A wallet app needs some TRX for the network’s fee.',
    '请在转出的钱包或交易所中选择此网络。钱包应用中需有少量 TRX 支付手续费。',
  ],
  minimum: ['Minimum', '最低金额'],
  minimumHelp: [
    'At least this must arrive, after any fee that your wallet or exchange takes off. Less is not credited.',
    '扣除钱包或交易所手续费后，实际到账至少要达到此金额，否则不会入账。',
  ],
  noMinimum: ['None', '无'],
  noMinimumHelp: [
    'What arrives is credited: what you send, less any fee that your wallet or exchange takes off.',
    '按实际到账金额入账，即扣除钱包或交易所手续费后的金额。',
  ],
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
  seen: ['On its way', '确认中'],
  held: ['Arrived, not credited yet', '已到账，暂未入账'],
  credited: ['Credited', '已入账'],
  refused: ['Not credited', '未入账'],
  dropped: ['Not confirmed: please wait', '未确认，请等待'],
  finalIn: [
    (seconds) => `Found on the network. Final in ${seconds} s, then it is credited.`,
    (seconds) => `已在网络上发现，${seconds} 秒后最终确认并入账。`,
  ],
  finalNow: ['Found on the network. Becoming final now …', '已在网络上发现，正在最终确认……'],
  finalLate: [
    'Found on the network, whose answers are late just now. It is credited by itself once it is final.',
    '已在网络上发现，但网络响应延迟。最终确认后会自动入账。',
  ],
  creditedHelp: ['It is in your balance.', '已计入您的余额。'],
  droppedHelp: [
    'Your money is not lost: the network has undone this transfer for now. It usually carries it out again within a minute, and it shows here. If not, the money is still where you sent it from: look there before you send again.',
    '您的资金没有丢失：网络暂时撤销了这笔转账，通常一分钟内会重新执行并显示在这里；若没有，资金仍在转出的钱包或交易所中，再次转账前请先在那里核对。',
  ],
  heldUnclear: [
    'Your money is safe. It is credited by itself when the network has answered about this token. You need to do nothing.',
    '您的资金安全。网络返回该代币的信息后会自动入账，您无需操作。',
  ],
  heldOperator: [
    `Your money has arrived and is safe. A person has to look at it first: please send the transaction number to ${support}.`,
    `您的资金已到账并被妥善保管，但需要人工处理。请将交易号发给${supportInChinese}。`,
  ],
  heldRetired: [
    `Your money has arrived and is safe, but this currency is not accepted at the moment. Please contact ${support}.`,
    `您的资金已到账并被妥善保管，但目前不接受该币种。请联系${supportInChinese}。`,
  ],
  heldFull: [
    'Your money has arrived and is safe. Your balance cannot hold more now; it is credited by itself when there is room.',
    '您的资金已到账并被妥善保管。您的余额已达上限，有空间后会自动入账。',
  ],
  belowMinimum: [
    `It has arrived and is recorded, but it is below the minimum, so it is not added to your balance. More small amounts do not change that. Please send the transaction number to ${support}: they decide about it.`,
    `转账已到账并有记录，但低于最低金额，因此没有计入余额；多笔小额不会累加。请将交易号发给${supportInChinese}，由其决定如何处理。`,
  ],
  dust: [
    'It has arrived and is recorded, but it is smaller than the smallest amount that is counted, so it is not added to your balance. You need to do nothing.',
    '转账已到账并有记录，但小于可记账的最小金额，因此没有计入余额。您无需操作。',
  ],
  failed: ['The transfer failed: nothing has arrived', '转账失败：没有到账'],
  failedHelp: [
    'The network did not carry it out, so the money has not left your wallet; at most a fee was charged. If you sent it from an exchange, ask there. From a wallet you can send it again: make sure that it has some TRX for the fee.',
    '网络没有执行这笔转账，资金没有离开您的钱包，最多只扣了手续费。您可以重新转账，请确认钱包中有少量 TRX 支付手续费。如果是从交易所转出，请联系该交易所。',
  ],
  elsewhere: ['It was not sent to your address', '没有转到您的地址'],
  elsewhereHelp: [
    'This transaction does not pay your address, so nothing has arrived here. Look in your wallet: is it the right transaction, and is your address above its recipient? What went to another address belongs to the owner of that address, who alone can send it back.',
    '这笔交易没有付款到您的地址，因此这里没有到账。请在钱包中核对：是不是这笔交易，收款地址是不是上面的地址。转到其他地址的资金归该地址的所有者，只有对方能够退回。',
  ],
  foreign: ['What was sent is not accepted here', '转入的资产不被接受'],
  foreignHelp: [
    `It is at your address, but it is something else than the currencies above, perhaps a token with the same name. So it is not in your balance. Send no more of it, and send the transaction number to ${support}: they can say whether you get it back.`,
    `转到您地址的不是上面列出的币种（名称可能相同），因此没有计入余额。请不要再转入，并将交易号发给${supportInChinese}，询问能否退回。`,
  ],
  early: ['It is older than your address', '早于您的地址'],
  earlyHelp: [
    `It was paid to this address before the address became yours, so it is not credited by itself. Please send the transaction number to ${support}.`,
    `付款时该地址还没有分配给您，因此不会自动入账。请将交易号发给${supportInChinese}。`,
  ],
  foundAt: [(time) => `Found ${time}`, (time) => `发现于 ${time}`],
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
  notTxid: ['That is no transaction number', '这不是交易号'],
  notTxidHelp: [
    'It has 64 characters, digits and the letters a to f. Copy it whole.',
    '交易号共 64 个字符，由数字和字母 a 到 f 组成。请完整复制。',
  ],
  askUnknown: ['The Tron network does not know this transaction', 'Tron 网络上没有这笔交易'],
  askUnknownHelp: [
    'If you sent it just now, try again in a minute. Otherwise check that you have copied the whole number, and look in your wallet or exchange. While it shows the transfer as pending or failed, the money has not left. If the number is right and the transfer complete there, it went over another network than Tron: ask the support of that wallet or exchange.',
    '如果刚刚转出，请一分钟后再试。否则请确认交易号完整，并在钱包或交易所中核对：若显示处理中或失败，资金还没有转出；若交易号无误且显示已完成，则是通过 Tron 以外的网络转出的，请联系该钱包或交易所的客服。',
  ],
  askNotFinal: [
    (seconds) =>
      `It is found on the network, and final in about ${seconds} s. If it pays your address, it is then credited by itself.`,
    (seconds) => `已在网络上找到，约 ${seconds} 秒后最终确认。如果付款到您的地址，随后会自动入账。`,
  ],
  askLate: [
    'It is found on the network, whose answers are late just now. If it pays your address, it is credited by itself once it is final.',
    '已在网络上找到，但网络响应延迟。如果付款到您的地址，最终确认后会自动入账。',
  ],
  askUndecided: ['It is found, but cannot be decided yet', '已找到，但目前无法判定'],
  askUndecidedHelp: [
    `Nothing is lost by waiting: it is looked at again by itself. If this stays, please send the transaction number to ${support}.`,
    `等待不会造成损失，系统会自动再次检查。如果一直如此，请将交易号发给${supportInChinese}。`,
  ],
  askWorthless: [
    `It is final, but it brought nothing to your account. The reason is below. If you think that this is wrong, please send the transaction number to ${support}.`,
    `交易已最终确认，但没有给您的账户带来入账，原因如下。如有疑问，请将交易号发给${supportInChinese}。`,
  ],
  askLater: [
    (seconds) =>
      `It could not be looked up. Please try again in ${seconds} s. What you have sent is credited without asking.`,
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
  creditedAt: [(time) => `Credited ${time}`, (time) => `入账于 ${time}`],
  download: ['Download as CSV', '下载 CSV'],
  downloading: [(done, all) => `Reading ${done} of ${all} …`, (done, all) => `正在读取 ${done} / ${all}……`],
  balanceOf: [(symbol) => `Balance in ${symbol}`, (symbol) => `${symbol} 余额`],
  balanceSummary: [
    (symbol, first, last) => `Line chart of the balance in ${symbol}, from ${first} to ${last}`,
    (symbol, first, last) => `${symbol} 余额折线图，从 ${first} 到 ${last}`,
  ],
  safe: [
    'What you have sent as described here is safe: it is credited even when this page is closed.',
    '按本页说明转出的资金是安全的：即使关闭本页面也会入账。',
  ],
} as const satisfies TextTable

/** What the page for deposits says, in one language. */
export type DepositTexts = TextsOf<typeof depositTexts>
