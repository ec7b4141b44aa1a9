import { reservedUid } from '../../common/ids.ts'
import type { TextTable } from '../kit/texts.ts'

const reserved = String(reservedUid)

/** What the desk answers to a question. */
export const storyTexts = {
  askHeading: ['What happened?', '查询'],
  ask: ['Look it up', '查询'],
  question: ['Transaction, address, user or order', '交易号、地址、用户或订单号'],
  questionHelp: [
    'A txid, an address, a uid, or an order (osn) after its user: 7 order-1001.',
    '交易号（txid）、地址、用户编号（uid），或用户编号加订单号（osn）：7 order-1001。',
  ],
  whose: [(osn) => `“${osn}” can be an order: whose is it?`, (osn) => `“${osn}” 可能是订单号：属于哪个用户？`],
  whoseHelp: ['An order is known by its user and its osn.', '订单由用户编号和订单号（osn）确定。'],
  uid: ['Uid of the user', '用户编号（uid）'],
  transaction: ['Transaction', '交易'],
  address: ['Address', '地址'],

  seen: ['On its way', '途中'],
  held: ['Held', '搁置'],
  credited: ['Credited', '已入账'],
  refused: ['Refused', '已拒绝'],
  dropped: ['No longer in the chain', '已不在链上'],
  strangeAddress: ['No user has this address', '该地址不属于任何用户'],
  strangeAddressHelp: [
    'This service has not issued it. Compare it with the one on the page of the user, character by character.',
    '本服务没有分配过此地址。请与用户页面上的地址逐字核对。',
  ],
  noOrder: ['This user has no such order', '该用户没有此订单'],
  noOrderHelp: [
    'Nothing was posted under this osn. Compare it with that of the backend.',
    '没有以此订单号（osn）记账，请与后端核对。',
  ],
  noUser: ['Nothing is known of this user: no deposit and no entry', '该用户没有任何充值或记录'],
  gone: ['It is not there any more', '已不存在'],
  goneHelp: ['The gap was read, or the endpoint is no longer configured.', '缺口已读取，或该接收端已不再配置。'],

  stepSeen: ['Seen', '发现'],
  seenAt: [(time, address) => `${time}, to ${address}`, (time, address) => `${time}，转入 ${address}`],
  stepOwner: ['Whose', '归属'],
  user: [
    (uid) => (uid === reserved ? 'Reserved: give it to its user by a transfer' : `User ${uid}`),
    (uid) => (uid === reserved ? '预留：请以转账交给其用户' : `用户 ${uid}`),
  ],
  owner: [
    (uid, number) => `${uid === reserved ? 'Reserved' : `User ${uid}`}: address ${number}`,
    (uid, number) => `${uid === reserved ? '预留' : `用户 ${uid}`}：地址编号 ${number}`,
  ],
  stepFinal: ['Final', '最终确认'],
  finalIn: [(n) => `Not yet: in about ${n} s`, (n) => `尚未：约 ${n} 秒后`],
  finalLate: [
    'Not yet, and the answers of the network are late: nobody can say when',
    '尚未，且网络响应延迟，无法预计时间',
  ],
  finalNext: ['By now: its block is read next', '应已最终确认，即将读取其区块'],
  finalUnread: [
    'By now, but its block seems to be one that could not be read (see Gaps). It waits until that is read.',
    '应已最终确认，但其区块似乎无法读取（见缺口），读取后才会入账。',
  ],
  finalYes: ['Yes', '是'],
  finalNever: ['Not in the chain any more. Mined again, it is seen again.', '已不在链上。若再次打包，会重新发现。'],
  stepCredited: ['Credited', '入账'],
  creditLater: ['By itself, once it is final', '最终确认后自动入账'],
  creditNo: [(why) => `No. ${why}`, (why) => `否。${why}`],
  entryAt: [
    (id, amount, time) => `Entry ${id}: ${amount}, ${time}`,
    (id, amount, time) => `记录 ${id}：${amount}，${time}`,
  ],
  balanceAfter: [(amount) => `Balance after it: ${amount}`, (amount) => `之后的余额：${amount}`],
  postedBy: [(name) => `Posted by ${name}`, (name) => `记账方：${name}`],
  stepEvents: ['Events', '事件'],
  has: ['has it, unless its types leave it out', '已送达（若其类型包含此事件）'],
  hasUntil: [(time) => `has every event that was stored before ${time}`, (time) => `${time} 之前的事件已全部送达`],
  lacks: ['does not have it yet', '尚未送达'],
  stepWhy: ['Why', '原因'],
  stepMeans: ['What it means', '影响'],
  stepDo: ['What to do', '处理'],
  gapMeans: [
    'Deposits in these blocks are not credited yet. They are as soon as the blocks are read, which is tried ever more rarely; the rest goes on.',
    '这些区块中的充值尚未入账，读取后会自动入账。重试间隔逐渐变长，其余扫描正常进行。',
  ],
  seenHere: ['Seen, and not credited yet', '已发现，尚未入账'],
  endpointMeans: [
    'Its events wait in their order; other endpoints and the scan go on.',
    '其事件按顺序等待，其他接收端和扫描不受影响。',
  ],
  balances: ['Balances', '余额'],
  transfersOf: [(n) => `Deposits: ${n}`, (n) => `充值：${n} 笔`],
  entriesOf: [(n) => `Entries: ${n}`, (n) => `记录：${n} 笔`],

  forUser: ['For the user', '回复用户'],
  copySentence: ['Copy the sentence', '复制回复'],
  sayCredited: [
    (amount, time) => `Your payment of ${amount} arrived and was credited to your balance on ${time}.`,
    (amount, time) => `您的 ${amount} 付款已到账，并于 ${time} 计入您的余额。`,
  ],
  saySeen: [
    (amount, n) =>
      `Your payment of ${amount} is on its way. The Tron network makes it final in about ${n} s; then it is credited by itself.`,
    (amount, n) => `您的 ${amount} 付款正在途中。Tron 网络约 ${n} 秒后最终确认，随后自动入账。`,
  ],
  sayLate: [
    (amount) =>
      `Your payment of ${amount} is on its way. The answers of the Tron network are late just now; it is credited by itself once it is final.`,
    (amount) => `您的 ${amount} 付款正在途中。Tron 网络目前响应延迟，最终确认后会自动入账。`,
  ],
  sayWaits: [
    (amount) => `Your payment of ${amount} is found. It is credited by itself as soon as its block can be read here.`,
    (amount) => `我们已找到您的 ${amount} 付款。系统读取其区块后会自动入账。`,
  ],
  sayDropped: [
    (amount) =>
      `The Tron network has dropped the block with your payment of ${amount}. Look in your wallet whether it still has the money; if it is sent again, it is credited by itself.`,
    (amount) => `Tron 网络撤销了包含您 ${amount} 付款的区块。请在钱包中确认资金是否仍在；若再次转出，会自动入账。`,
  ],
  sayHeld: [
    (amount, why) => `Your payment of ${amount} has arrived and is safe, but it is not credited yet. ${why}`,
    (amount, why) => `您的 ${amount} 付款已到账且安全，但尚未入账。${why}`,
  ],
  sayRefused: [
    (amount, why) => `Your payment of ${amount} has arrived, but it was not credited. ${why}`,
    (amount, why) => `您的 ${amount} 付款已到账，但未入账。${why}`,
  ],
  sayPosted: [
    (what, amount, time) => `${what}: ${amount}, ${time}.`,
    (what, amount, time) => `${what}：${amount}，${time}。`,
  ],
} as const satisfies TextTable
