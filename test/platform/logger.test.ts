import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/worker/platform/logger.ts'

function recording() {
  const lines: string[] = []
  return { lines, logger: createLogger((line) => lines.push(line)) }
}

describe('the logger', () => {
  it('writes one line of JSON for each call, level and name first', () => {
    const { lines, logger } = recording()
    logger.info('node-probed', { node: 1, finalized: true })
    logger.warn('scan-stopped', { kind: 'no-answer' })
    logger.error('crash', {})
    expect(lines).toEqual([
      '{"level":"info","event":"node-probed","node":1,"finalized":true}',
      '{"level":"warn","event":"scan-stopped","kind":"no-answer"}',
      '{"level":"error","event":"crash"}',
    ])
  })

  it('writes every alarm in one form, so that one alert rule matches them all', () => {
    const { lines, logger } = recording()
    logger.alarm('nodes-disagree', { about: 'block 7', outcome: 'held' })
    expect(lines).toEqual([
      '{"level":"error","alarm":"nodes-disagree","about":"block 7","outcome":"held","urgency":"today"}',
    ])
  })

  it('lets no field replace the level or the name, and no text break the line', () => {
    const { lines, logger } = recording()
    logger.alarm('node-lies', { level: 'info', alarm: 'nothing', urgency: 'never', why: 'a\nb"c' })
    expect(lines).toEqual(['{"level":"error","alarm":"node-lies","urgency":"today","why":"a\\nb\\"c"}'])
  })
})
