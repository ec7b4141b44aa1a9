import { expect, it } from 'vitest'
import { addAlarm, hasAlarm, removeAlarm, removeAlarmsBefore, selectAlarms } from '../../src/alarms/alarms.ts'
import { ms, openDatabase } from './fixtures.ts'

it('alarms are raised once for each subject until they are removed', async () => {
  const db = await openDatabase()
  await addAlarm(db, 'gap-unread', '7', ms(5))
  await addAlarm(db, 'gap-unread', '7', ms(6))
  await addAlarm(db, 'gap-unread', '8', ms(6))
  await addAlarm(db, 'node-lies', '', ms(9))
  expect([await hasAlarm(db, 'gap-unread', '7'), await hasAlarm(db, 'gap-unread', '')]).toEqual([true, false])
  expect(await selectAlarms(db, ['gap-unread', 'tick-failed'])).toEqual([
    { kind: 'gap-unread', subject: '7', raisedAt: 6 },
    { kind: 'gap-unread', subject: '8', raisedAt: 6 },
  ])
  await removeAlarm(db, 'gap-unread', '7')
  await removeAlarm(db, 'gap-unread', '7')
  await removeAlarmsBefore(db, ['node-lies', 'gap-unread'], ms(9))
  expect(await selectAlarms(db, ['gap-unread', 'node-lies'])).toEqual([{ kind: 'node-lies', subject: '', raisedAt: 9 }])
})
