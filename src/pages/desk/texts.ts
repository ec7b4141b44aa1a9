import type { TextsOf, TextTable } from '../kit/texts.ts'
import { chainTexts } from './chain-texts.ts'
import { listTexts } from './list-texts.ts'
import { storyTexts } from './story-texts.ts'

/** What the desk says, but for alarms. */
export const deskTexts = {
  ...chainTexts,
  ...listTexts,
  ...storyTexts,
  title: ['Desk', '工作台'],
  pair: [(name, value) => `${name}: ${value}`, (name, value) => `${name}：${value}`],
  asOf: [(time) => `As of ${time}`, (time) => `截至 ${time}`],
  seconds: [(n) => `${n} s`, (n) => `${n} 秒`],
  minutes: [(n) => `${n} min`, (n) => `${n} 分钟`],
  hours: [(n) => `${n} h`, (n) => `${n} 小时`],
  days: [(n) => `${n} d`, (n) => `${n} 天`],
  withAge: [(time, age) => `${time} (${age}\u00a0ago)`, (time, age) => `${time}（${age}前）`],

  signIn: ['Sign in', '登录'],
  signOut: ['Sign out', '退出'],
  token: ['A backend’s token with ledger:read', '后端令牌（需含 ledger:read）'],
  tokenHelp: [
    'A token is valid for an hour at most. Only this tab of the browser keeps it.',
    '令牌最长一小时有效。只保存在浏览器的本标签页中。',
  ],
  signInHelp: [
    'Paste a token below. `npm run desk` makes one for the service on this machine; for a deployed one a backend signs it.',
    '请在下面粘贴令牌。本机的服务用 `npm run desk` 生成；已部署的服务由后端签发。',
  ],
  notToken: [
    'That is no token: it has three parts with a point between them.',
    '这不是令牌：令牌由点号分隔的三部分组成。',
  ],
  signInFirst: ['Sign in to see whether all is well', '请先登录以查看状态'],
  expired: ['The token is wrong or has expired', '令牌有误或已过期'],
  expiredHelp: ['Paste a new one below.', '请在下面粘贴新的令牌。'],
  noScope: ['The token does not allow reading', '令牌没有读取权限'],
  noScopeHelp: ['Its `scope` has to include `ledger:read`.', '其 `scope` 须包含 `ledger:read`。'],
  noDoor: ['No backend can sign in to this service', '本服务未开放后端访问'],
  noDoorHelp: [
    'Set `BACKEND_JWT_SECRET` or `BACKEND_JWKS_URL`, and deploy again.',
    '请设置 `BACKEND_JWT_SECRET` 或 `BACKEND_JWKS_URL` 并重新部署。',
  ],
  wrongSetting: [
    'A setting is wrong: the service answers no question and credits nothing',
    '设置有误：服务停止应答，也不入账',
  ],
  wrongSettingHelp: [
    'A setting is missing, malformed, or not that of the stored data. Run `npm run doctor` (for the deployed service `npm run doctor -- --production`): it names the setting and what it takes. Where it is the decimals of a currency that you have just corrected, run `npm run operate -- currency --cuy <n> --production`; correct anything else, and deploy again. The scan then goes on where it was, and nothing is lost.',
    '有设置缺失、格式错误或与已存储的数据不符。请运行 `npm run doctor`（已部署的服务用 `npm run doctor -- --production`），它会指出该设置及取值要求。如果它是您刚刚更正的某币种的小数位数，请运行 `npm run operate -- currency --cuy <n> --production`；其他设置请改正后重新部署。扫描会从原处继续，不会丢失任何资金。',
  ],
  waitHelp: [
    'The desk tries again by itself. What is sent meanwhile is credited later.',
    '本页面会自动重试。期间转入的资金稍后入账。',
  ],
  refusedNext: ['The sentence of the service is below.', '服务的原文如下。'],
  askAgain: [(wait) => `Look it up again in ${wait}.`, (wait) => `请在 ${wait}后再查询一次。`],
  loading: ['Looking …', '正在查询……'],

  allWell: ['All is well', '一切正常'],
  allScanned: [
    (block) => `The scan has read every final block up to ${block}.`,
    (block) => `扫描已读完所有最终区块（至 ${block}）。`,
  ],
  allNodes: [(n, all) => `${n} of ${all} nodes answer.`, (n, all) => `${all} 个节点中有 ${n} 个正常应答。`],
  allEndpoints: [
    (n, all) => `${n} of ${all} endpoints have every event.`,
    (n, all) => `${all} 个接收端中有 ${n} 个已收到全部事件。`,
  ],
  allElse: [
    'No alarm is raised, no deposit is held, and no difference is reported: there is nothing to do.',
    '没有警报、没有搁置的充值，也没有报告的差额，无需处理。',
  ],
  advice: ['What to do:', '处理办法：'],
  others: [(n) => `${n} more below`, (n) => `下面还有 ${n} 项`],
  since: [(time) => `Since ${time}`, (time) => `始于 ${time}`],
  andMore: [(n) => `and ${n} more`, (n) => `以及另外 ${n} 项`],
  lineHelp: [
    (names) =>
      `The log line is in the log of the Worker (Logs in the dashboard; \`npx wrangler tail\` shows new ones only): look for ${names}.`,
    (names) => `日志行在 Worker 的日志中（控制台的 Logs；\`npx wrangler tail\` 只显示新的）：请查找 ${names}。`,
  ],
  nodeAt: [(n) => `Node ${n}: number ${n} in \`TRON_NODES\``, (n) => `节点 ${n}：\`TRON_NODES\` 中第 ${n} 个`],
  endpointAt: [(n) => `Its URL is number ${n} in \`WEBHOOKS\``, (n) => `网址为 \`WEBHOOKS\` 中第 ${n} 个`],
  cuyAt: [
    (symbol, cuy) => `${symbol}: \`cuy\` ${cuy} in \`CURRENCIES\``,
    (symbol, cuy) => `${symbol}：\`CURRENCIES\` 中 \`cuy\` 为 ${cuy}`,
  ],
  eventOf: [(id) => `event ${id}`, (id) => `事件 ${id}`],
  story: ['Story', '详情'],
  nodesDo: [
    'Run `npm run doctor -- --production`: it asks each node, and shows what is wrong with it.',
    '请运行 `npm run doctor -- --production`，它会逐个检查节点并指出问题。',
  ],
  endpointDo: [
    'Check that the receiver is up and can be reached, and that it answers each event with a status of 2xx.',
    '请确认接收端正在运行、可以访问，并以 2xx 状态应答每个事件。',
  ],
  differenceDo: ['Compare the story of the address with an explorer.', '请将该地址的详情与区块浏览器对照。'],
  surplusDo: [
    'For what belongs to its user, have a backend post an adjustment once (`POST /ledger/entries`, type 9). This notice stays, since the entry changes nothing on the chain: do not post it again.',
    '属于用户的部分，请由后端记一笔调整（`POST /ledger/entries`，类型 9），仅一次。记账不改变链上余额，本提示会继续显示：请勿重复记账。',
  ],
  standsStill: ['The scan stands still: no new deposit is credited', '扫描停滞：新的充值不入账'],
  noAnswer: ['Too few nodes answer', '应答的节点不足'],
  disagreement: ['The nodes disagree', '节点不一致'],
  limited: ['The requests that the nodes allow are used up', '节点允许的请求已用完'],
  outOfTime: ['The nodes answer too slowly', '节点应答太慢'],
  starting: ['No scan has started yet', '扫描尚未开始'],
  startingHelp: [
    'It starts by itself within a minute after the deployment. If it does not, run `npm run doctor -- --production`.',
    '部署后一分钟内会自动开始。如未开始，请运行 `npm run doctor -- --production`。',
  ],
  stopped: ['The scan has stopped: nothing is credited', '扫描已停止：不再入账'],
  stoppedHelp: [
    'Run `npm run doctor -- --production`, and look at the log of the scanner. Deposits wait, and none is lost.',
    '请运行 `npm run doctor -- --production` 并查看扫描器日志。充值会等待，不会丢失。',
  ],
  behind: [
    (blocks) => `The scan is ${blocks} blocks behind: deposits are late`,
    (blocks) => `扫描落后 ${blocks} 个区块：入账会延迟`,
  ],
  behindHelp: [
    'It catches up by itself. If the number grows, the nodes are too slow, or their allowance is used up.',
    '会自动追上。如果数字增大，说明节点太慢或请求额度已用完。',
  ],
  gapOf: [
    (range) => `${range} could not be read: deposits in there are not credited yet`,
    (range) => `${range} 无法读取：其中的充值尚未入账`,
  ],
  ranges: [(n) => `${n} ranges of blocks`, (n) => `${n} 段区块`],
  seenIn: [(n) => `Deposits seen there, and waiting: ${n}`, (n) => `其中已发现、等待入账的充值：${n} 笔`],
  decimalsOf: [
    (symbols) => `${symbols}: the decimals in \`CURRENCIES\` are not those of the contract, so none of it is credited`,
    (symbols) => `${symbols}：\`CURRENCIES\` 中的小数位数与合约不同，一律不入账`,
  ],
  notCertain: [(amount) => `${amount} (not certain)`, (amount) => `${amount}（不确定）`],
  decimalsNote: ['Its amounts are not certain: the decimals differ.', '金额不确定：小数位数不一致。'],
  block: [(n) => `Block ${n}`, (n) => `区块 ${n}`],
  blocks: [(from, to) => `Blocks ${from} to ${to}`, (from, to) => `区块 ${from} 至 ${to}`],
  heldOf: [
    (n, symbol, why) => `Held deposits in ${symbol}: ${n}. ${why}`,
    (n, symbol, why) => `${symbol} 搁置充值 ${n} 笔。${why}`,
  ],
  failingOf: [(n, why) => `Webhook endpoint ${n} fails: ${why}`, (n, why) => `Webhook 接收端 ${n} 失败：${why}`],
  lateOf: [(n, age) => `Endpoint ${n} is ${age} behind`, (n, age) => `接收端 ${n} 落后 ${age}`],
  nodesLate: [
    (age) => `The newest final block is ${age} old: what is sent now is not credited yet`,
    (age) => `最新的最终区块已有 ${age}：新转入的资金暂不入账`,
  ],

  sumsHeading: ['Owed and held', '应付与持有'],
  comparedAt: [(n, time) => `Addresses: ${n}, read until ${time}`, (n, time) => `地址 ${n} 个，读至 ${time}`],
  unread: [
    (n) => `Of these, perhaps read before their newest deposit: ${n}. They are read again by themselves.`,
    (n) => `其中 ${n} 个的读取可能早于其最新充值，会自动重新读取。`,
  ],
  frozenSum: [
    (amount, n) => `Of this, frozen by the issuer: ${amount} on ${n} addresses. It cannot be collected.`,
    (amount, n) => `其中被发行方冻结：${amount}（地址 ${n} 个），无法归集。`,
  ],
  notCompared: ['Not read yet: soon after the first transfer', '尚未读取：首笔转账后不久进行'],
  differing: [(n) => `Addresses that differ: ${n}`, (n) => `有差额的地址：${n}`],
  delaysHeading: ['Delays and room now', '当前延迟与容量'],
  nodes: ['Newest final block', '最新的最终区块'],
  old: [(age) => `${age} old`, (age) => `${age}前`],
  notKnown: ['Not known', '未知'],
  nodesNormal: ['About a minute is normal.', '正常约为一分钟。'],
  scan: ['Scan', '扫描'],
  scanAt: [
    (blocks, block) => `${blocks} blocks behind final block ${block}`,
    (blocks, block) => `落后 ${blocks} 个区块（最终区块 ${block}）`,
  ],
  scanStands: [(block) => `Stands still at block ${block}`, (block) => `停在区块 ${block}`],
  onTheWay: ['Deposits seen, not credited yet', '已发现、尚未入账的充值'],
  oldestHeld: ['Oldest held deposit', '最早的搁置充值'],
  none: ['None', '无'],
  database: ['Database', '数据库'],
  databaseSize: [
    (size, limit, percent) => `${size} MB of ${limit} MB (${percent} %)`,
    (size, limit, percent) => `${size} MB，上限 ${limit} MB（${percent} %）`,
  ],
  databaseFullOn: [
    (day) => `Full on ${day}, at the rate of the last 30 days`,
    (day) => `按最近 30 天的增速，将于 ${day} 写满`,
  ],
  endpoint: [(n) => `Endpoint ${n}`, (n) => `接收端 ${n}`],
  noEndpoints: ['No endpoint is configured', '未配置接收端'],
  upToDate: ['Has every event', '事件已全部送达'],
  late: [(age) => `The oldest event that it lacks is ${age} old`, (age) => `尚缺的最早事件已有 ${age}`],

  chartsHeading: ['The last 30 days', '最近 30 天'],
  currency: ['Currency', '币种'],
  depositsChart: ['Deposits a day', '每日充值笔数'],
  sumsChart: ['Sum of deposits a day', '每日充值金额'],
  entriesChart: [(type) => `Entries a day: ${type}`, (type) => `每日记录数：${type}`],
  chartSummary: [
    (title, sum, highest) => `${title}: ${sum} in all, at most ${highest}`,
    (title, sum, highest) => `${title}：合计 ${sum}，最高 ${highest}`,
  ],
  day: ['Day (UTC)', '日期（UTC）'],
  value: ['Value', '数值'],
  type1: ['Deposit', '充值'],
  type2: ['Withdrawal', '提现'],
  type3: ['Transfer', '转账'],
  type4: ['Payment', '支付'],
  type5: ['Refund', '退款'],
  type9: ['Adjustment', '调整'],

  heldHeading: ['Held deposits', '搁置的充值'],
  gapsHeading: ['Gaps', '缺口'],
  gapsHelp: [
    'Blocks that could not be read. A deposit in them is credited as soon as they are.',
    '无法读取的区块。其中的充值在读取后自动入账。',
  ],
  differencesHeading: ['Differences', '差额'],
  differencesHelp: [
    'Addresses that hold more or less than is recorded: three readings in a row found the same.',
    '余额多于或少于记录的地址：连续三次读取结果相同。',
  ],
  gapsEnd: ['Only the lowest ranges of unread blocks; more can follow.', '仅含高度最低的未读区块范围；可能还有更多。'],
  endpointsHeading: ['Endpoints', '接收端'],
  what: ['What', '内容'],
  when: ['When', '时间'],
  csv: ['CSV', 'CSV'],
  csvOf: [(what) => `Download as CSV: ${what}`, (what) => `下载 CSV：${what}`],
  shownOf: [(n, all) => `${n} of ${all} are shown.`, (n, all) => `显示 ${all} 项中的 ${n} 项。`],
  more: ['More than recorded', '多于记录'],
  less: ['Less than recorded', '少于记录'],
  tries: [(n) => `Tries: ${n}`, (n) => `尝试次数：${n}`],
  failing: [(time) => `Failing since ${time}`, (time) => `失败始于 ${time}`],
} as const satisfies TextTable

/** What the desk says, in one language. */
export type DeskTexts = TextsOf<typeof deskTexts>
