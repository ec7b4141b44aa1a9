import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/platform/logger.ts'

function record() {
  const lines: string[] = []
  return { lines, log: createLogger((line) => lines.push(line)) }
}

describe('the log', () => {
  it('writes one line of JSON for each call, level and name first', () => {
    const { lines, log } = record()
    log.info('node-probed', { node: 1, finalized: true })
    log.warn('scan-stopped', { kind: 'no-answer' })
    log.error('crash', {})
    expect(lines).toEqual([
      '{"level":"info","event":"node-probed","node":1,"finalized":true}',
      '{"level":"warn","event":"scan-stopped","kind":"no-answer"}',
      '{"level":"error","event":"crash"}',
    ])
  })

  it('writes alarms in one form that one rule finds', () => {
    const { lines, log } = record()
    log.alarm('nodes-disagree', { about: 'block 7', outcome: 'held' })
    expect(lines).toEqual(['{"level":"error","alarm":"nodes-disagree","about":"block 7","outcome":"held"}'])
  })

  it('lets no field replace the level or the name, and no text break the line', () => {
    const { lines, log } = record()
    log.alarm('node-lies', { level: 'info', alarm: 'nothing', why: 'a\nb"c' })
    expect(lines).toEqual(['{"level":"error","alarm":"node-lies","why":"a\\nb\\"c"}'])
  })
})
