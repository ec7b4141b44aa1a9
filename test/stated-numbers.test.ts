import { describe, expect, it } from 'vitest'
import { confirmMsMax } from '../src/commands/deploy/confirm.ts'
import { healthMsMax } from '../src/commands/deployed-health.ts'
import { standstillMs } from '../src/worker/alarms/alarms.ts'
import { dayMs, minuteMs } from '../src/worker/common/time.ts'
import { transactionsMax } from '../src/worker/payouts/lifecycle.ts'
import { expirationAheadMsMax, expiredMsMax } from '../src/worker/payouts/signed-bytes.ts'
import { refusedMs } from '../src/worker/payouts/watch.ts'
import { readingsNeeded } from '../src/worker/reconciliation/judge.ts'
import { troubleAlarmMs } from '../src/worker/tron/limits.ts'
import { setAsideMs } from '../src/worker/webhooks/deliver-events.ts'
import { textOf } from './support/source-files.ts'

/**
 * What texts for people say of a limit, in words, by the file. A limit that changes, and a text
 * that is reworded, is changed here, too: so no text says what is not so.
 */
interface Stated {
  readonly name: string
  readonly limit: number
  readonly is: number
  readonly said: Readonly<Record<string, readonly string[]>>
}

const alarms = 'src/worker/platform/alarm-table.ts'
const chineseAlarms = 'src/pages/desk/languages/zh-alarms.ts'
const payoutsGuide = 'docs/guides/payouts.md'

const stated: readonly Stated[] = [
  {
    ...{ name: 'how long a deployment is asked for its version (confirmMsMax)', limit: confirmMsMax, is: minuteMs },
    said: { 'docs/operate.md': ['for up to 60 seconds until that shows the new version'] },
  },
  {
    ...{ name: 'how long one answer of a deployment may take (healthMsMax)', limit: healthMsMax, is: 10_000 },
    said: { 'docs/operate.md': ['Each answer has ten seconds'] },
  },
  {
    ...{ name: 'transactions of a payout that may expire (transactionsMax)', limit: transactionsMax, is: 3 },
    said: {
      'src/worker/schemas/payout.ts': ['or three have'],
      'src/worker/http/openapi/webhooks.ts': ['or three have expired'],
      'src/worker/http/routes/ledger-payouts-approve.ts': ['may have three more transactions'],
      [alarms]: ['or three have expired'],
      [chineseAlarms]: ['或三笔交易均已过期'],
      'src/pages/desk/languages/en-actions.ts': ['Up to three more transactions'],
      'src/pages/desk/languages/zh-actions.ts': ['最多再尝试三笔交易'],
      'src/pages/desk/languages/en-payouts.ts': ['or stuck after three'],
      'src/pages/desk/languages/zh-payouts.ts': ['三次过期后受阻'],
      [payoutsGuide]: ['or three have expired', 'up to three times', 'three transactions', 'three more transactions'],
      'docs/guides/signers.md': ['one of its three attempts'],
    },
  },
  {
    ...{ name: 'how long a scan may stand still (standstillMs)', limit: standstillMs, is: 3 * minuteMs },
    said: {
      [alarms]: ['For three minutes the scan has not started', 'For three minutes nodes that answer'],
      [chineseAlarms]: ['扫描已有三分钟未启动', '已有三分钟没有新的最终区块'],
      'docs/operate.md': ['has not advanced for three minutes'],
    },
  },
  {
    ...{ name: 'how long a node may be in trouble (troubleAlarmMs)', limit: troubleAlarmMs, is: 3 * minuteMs },
    said: {
      [alarms]: ['For three minutes a node has had no', 'For three minutes a node has failed'],
      [chineseAlarms]: ['某个节点三分钟没有最终区块', '某个节点三分钟来'],
    },
  },
  {
    ...{ name: 'how long no node may take a payout (refusedMs)', limit: refusedMs, is: minuteMs },
    said: { [alarms]: ['was sent a minute ago'], [chineseAlarms]: ['发送已满一分钟'] },
  },
  {
    ...{ name: 'how far ahead a transaction may expire', limit: expirationAheadMsMax, is: 60 * minuteMs },
    said: {
      'src/worker/common/payout-reasons.ts': ['more than 60 minutes after'],
      'src/worker/payouts/signed-bytes.ts': ['more than 60 minutes after'],
      [payoutsGuide]: ['lives for 60 minutes', '10 to 60'],
      'docs/guides/signers.md': ['10 to 60 minutes'],
    },
  },
  {
    ...{ name: 'how old a transaction may be that is handed in', limit: expiredMsMax, is: dayMs },
    said: {
      'src/worker/common/payout-reasons.ts': ['expired more than a day before'],
      'src/worker/payouts/signed-bytes.ts': ['expired more than a day before'],
      [payoutsGuide]: ['expired more than a day before'],
    },
  },
  {
    ...{ name: 'how long an event is tried (setAsideMs)', limit: setAsideMs, is: 3 * dayMs },
    said: {
      [alarms]: ['refused one event for three days'],
      [chineseAlarms]: ['三天来一直拒收一个事件'],
      'docs/guides/backends.md': ['After three days'],
    },
  },
  {
    ...{ name: 'readings that find a difference (readingsNeeded)', limit: readingsNeeded, is: 3 },
    said: {
      [alarms]: ['holds less than is recorded, by three readings', 'holds more than is recorded, by three readings'],
      [chineseAlarms]: ['少于记录，三次读取', '多于记录，三次读取'],
      'src/pages/desk/languages/en.ts': ['three readings in a row'],
      'src/pages/desk/languages/zh.ts': ['连续三次读取'],
      'docs/operate.md': ['once three readings have found'],
      'docs/database.md': ['that three readings have found'],
    },
  },
]

describe.each(stated)('$name', ({ limit, is, said }) => {
  it('is what the texts say', () => {
    expect(limit).toBe(is)
  })

  it.each(Object.entries(said))('is said in %s', (file, phrases) => {
    const text = textOf(file).replace(/\s+/g, ' ')
    expect(phrases.filter((phrase) => !text.includes(phrase))).toEqual([])
  })
})
