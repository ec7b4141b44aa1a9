import { reservedUid } from '../../../worker/common/ids.ts'
import type { StoryTexts } from './en-stories.ts'

const reserved = String(reservedUid)

const internal = '由本服务或运营者转出，不是充值。'
const internalDo = '无需处理：归集和支付能量费就是这样。'
const otherKind = '这是其他类型的交易，不是受支持币种的付款。'
const otherKindDo = '请按上面的服务原文向用户说明。没有可入账的资金到账。'
const belowMinimumDo = '无需处理。如要补给用户，请由后端记一笔调整（`POST /ledger/entries`，类型 9）。'
const undecidedDo = '请几分钟后再查询。如果持续，请运行 `npm run doctor -- --production`，它会指出出错的节点。'
const wrongSettingHelp =
  '有设置缺失、格式错误或与已存储的数据不符。请运行 `npm run doctor`（已部署的服务用 `npm run doctor -- --production`），它会指出该设置及取值要求。如果它是您刚刚更正的某币种的小数位数，请运行 `npm run operate -- currency --cuy <n> --production`；其他设置请改正后重新部署。扫描会从原处继续，不会丢失任何资金。'

export const zhStories: StoryTexts = {
  askHeading: '查询',
  ask: '查询',
  question: '交易号、地址、用户、订单号或金额',
  questionHelp: '交易号（txid）、地址、用户（7 或 #7）、订单号或金额：61 TRX。交易号和地址只需开头：TWer2Y…GZmaL6。',
  transaction: '交易',
  address: '地址',

  states: {
    seen: '途中',
    held: '搁置',
    credited: '已入账',
    refused: '已拒绝',
    dropped: '已不在链上',
    waiting: '待批准',
    approved: '已批准',
    signed: '已签名',
    paid: '已付出',
    stuck: '受阻',
    cancelled: '已取消',
  },
  strangeAddress: '该地址不属于任何用户',
  strangeAddressHelp: '本服务没有分配过此地址。请与用户页面上的地址逐字核对。',
  noOrder: (asked) => `没有订单号为“${asked}”的订单、记录或提现`,
  noOrderHelp: '请与后端的 `order` 或 `osn` 核对，或查询其用户或转账金额。地址和交易号请输入开头：只有结尾无法查询。',
  noPart: (begin, end) => `没有以“${begin}”开头${end === '' ? '' : `、以“${end}”结尾`}的地址或交易`,
  noPartHelp:
    '已在用户地址、提现收款地址以及充值和提现的交易中查找。不查找付款方地址：请索取完整的交易号。地址区分大小写，且不含 0、O、I、l。',
  partsFound: (begin, end) => `以“${begin}”开头${end === '' ? '' : `、以“${end}”结尾`}`,
  partsMore: '还有更多，请输入更长的开头。',
  noUser: '该用户没有任何地址、充值、订单或记录',
  noUserHelp: '也没有以此为订单号的订单、记录或提现。请与后端的编号核对。查询金额请带上币种：25 USDT。',
  gone: '已不存在',
  goneHelp: '缺口已读取，或该接收端已不再配置。',

  stepSeen: '发现',
  seenAt: (time, address) => `${time}，转入 ${address}`,
  frozenIn: (symbol) => `已被 ${symbol} 的发行方冻结`,
  stepOwner: '归属',
  user: (uid) => (uid === reserved ? '预留：请以转账交给其用户' : `用户 ${uid}`),
  owner: (uid, number) => `${uid === reserved ? '预留' : `用户 ${uid}`}：地址编号 ${number}`,
  stepFinal: '最终确认',
  finalIn: (n) => `尚未：约 ${n} 秒后`,
  finalLate: '尚未，且网络响应延迟，无法预计时间',
  finalNext: '应已最终确认，即将读取其区块',
  finalUnread: '应已最终确认，但其区块似乎无法读取（见缺口），读取后才会入账。',
  finalYes: '是',
  finalNever: '已不在链上。若再次打包，会重新发现。',
  stepCredited: '入账',
  creditLater: '最终确认后自动入账',
  creditNo: (why) => `否。${why}`,
  entryAt: (id, amount, time) => `记录 ${id}：${amount}，${time}`,
  balanceAfter: (amount) => `之后的余额：${amount}`,
  postedBy: (name) => `记账方：${name}`,
  decidedBy: (name, why) => `由 ${name} 决定：${why}`,
  stepEvents: '事件',
  has: '已送达（若其类型包含此事件）',
  hasUntil: (time) => `${time} 之前的事件已全部送达`,
  lacks: '尚未送达',
  addedLater: '后来添加，未收到',
  stepWhy: '原因',
  stepMeans: '影响',
  stepDo: '处理',
  gapMeans: '这些区块中的充值尚未入账，读取后会自动入账。重试间隔逐渐变长，其余扫描正常进行。',
  seenHere: '已发现，尚未入账',
  endpointMeans: '其事件按顺序等待，其他接收端和扫描不受影响。',
  balances: '余额',
  transfersOf: (n) => `充值：${n} 笔`,
  entriesOf: (n) => `记录：${n} 笔`,

  forUser: '回复用户',
  copySentence: '复制回复',
  sayCredited: (amount, time) => `您的 ${amount} 付款已到账，并于 ${time} 计入您的余额。`,
  saySeen: (amount, n) => `您的 ${amount} 付款正在途中。Tron 网络约 ${n} 秒后最终确认，随后自动入账。`,
  sayLate: (amount) => `您的 ${amount} 付款正在途中。Tron 网络目前响应延迟，最终确认后会自动入账。`,
  sayWaits: (amount) => `我们已找到您的 ${amount} 付款。系统读取其区块后会自动入账。`,
  sayDropped: (amount) =>
    `Tron 网络撤销了包含您 ${amount} 付款的区块。请在钱包中确认资金是否仍在；若再次转出，会自动入账。`,
  sayHeld: (amount, why) => `您的 ${amount} 付款已到账且安全，但尚未入账。${why}`,
  sayRefused: (amount, why) => `您的 ${amount} 付款已到账，但未入账。${why}`,
  sayPosted: (what, amount, time) => `${what}：${amount}，${time}。`,

  unknownTxidDo:
    '请向用户索要钱包中显示的交易号和所用网络：必须是 Tron（代币为 TRC-20）。如果刚刚转出，请一分钟后再查询。',

  undecidedDo,
  wrongSettingHelp,

  reviewRefused: ['已被人工拒绝。', '无需处理，仍可改为入账。'],

  reasons: {
    'decimals-unknown': ['合约的小数位数尚未读取成功。', '节点对合约一致后会自动处理。如果超过一小时，请检查节点。'],
    'decimals-differ': ['合约的小数位数与设置不同。'],
    retired: ['该币种已不再接受。', '在 `CURRENCIES` 中取消该币种的 `retired`，会自动入账；或退还资金。'],
    'too-large': ['金额超出单笔记录的上限。', '请与用户商定，不会自动入账。'],
    'wallet-full': ['用户钱包已达上限。', '用户支出后有空间时会自动入账。'],
    review: ['入账前需人工审核。', '请作出决定：入账或拒绝。已拒绝的仍可改为入账。'],
    'below-minimum': ['低于最低金额。', belowMinimumDo],
    dust: ['小于可记账的最小金额。', belowMinimumDo],
    'nodes-disagree': ['Tron 节点对这笔交易不一致。', undecidedDo],
    'transaction-unreadable': ['本服务无法解析这笔交易。'],
    'chain-forked': ['在运营者检查链之前不会入账。'],
    'configuration-differs': ['在运营者更正设置之前不会入账。', wrongSettingHelp],
    'paid-before-issue': ['在该地址分配给现在的用户之前，它已最终确认。'],
    'credited-otherwise': [
      '它曾按错误的区块以其他金额入账，或入账给了其他用户。',
      '请将警报 `corrected-credit` 的日志行与链上对照，并把差额记为调整。',
    ],
    'transaction-failed': ['这笔交易执行失败，没有付款。', '无需处理：资金仍在付款方。'],
    'no-transfer': [
      '它没有转入本服务的任何地址。',
      '请用区块浏览器核对收款地址与用户的充值地址。转入其他地址的资金不在此处，只有该地址的所有者能退回。',
    ],
    'from-own-address': [internal, internalDo],
    'internal-transfer': [internal, internalDo],
    'from-operator': [internal, internalDo],
    'zero-amount': ['转账金额为 0。', '无需处理：这类转账冒充付款，诱人从中复制错误的地址。'],
    'not-accepted': [
      '转入的资产不在受支持之列。',
      '只有 `CURRENCIES` 中的币种会入账。资产在该地址上，持有私钥者可以退回，请与用户商定。',
    ],
    trc10: [otherKind, otherKindDo],
    'not-a-transfer': [otherKind, otherKindDo],
  },
}
