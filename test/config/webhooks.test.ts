import { describe, expect, it } from 'vitest'
import { eventTypes } from '../../src/worker/common/event-types.ts'
import { configOf, faultsOf, placeOf } from './parsed.ts'

const secret = `whsec_${btoa('s'.repeat(32))}`
const other = `whsec_${btoa('t'.repeat(24))}`
const value = (changes: Record<string, unknown>) => configOf({ HOOK_SECRET: secret, ...changes })
const faults = (changes: Record<string, unknown>) => faultsOf({ HOOK_SECRET: secret, ...changes })

const endpoint = { url: 'https://shop.example/hooks', secretVar: 'HOOK_SECRET' }

describe('WEBHOOKS', () => {
  it('is none by default', () => {
    expect(value({}).webhooks).toEqual([])
    expect(value({ WEBHOOKS: '' }).webhooks).toEqual([])
  })

  it('is an array or its JSON text, each entry with the secret that it names', () => {
    const list = [endpoint, { ...endpoint, url: 'http://127.0.0.1:8790', types: ['deposit.credited'] }]
    const { webhooks } = value({ WEBHOOKS: list })
    expect(webhooks).toMatchObject([
      { number: 1, url: endpoint.url, secrets: [secret], types: null },
      { number: 2, secrets: [secret], types: new Set(['deposit.credited']) },
    ])
    expect(value({ WEBHOOKS: JSON.stringify(list) }).webhooks).toEqual(webhooks)
  })

  it('keeps the key of an endpoint whatever its place, and has no URL in it', () => {
    const [first] = value({ WEBHOOKS: [endpoint] }).webhooks
    const [, second] = value({ WEBHOOKS: [{ ...endpoint, url: 'https://a.example/' }, endpoint] }).webhooks
    expect(second?.key).toBe(first?.key)
    expect(first?.key).toMatch(/^[0-9a-f]{64}$/)
  })

  it('has two secrets while they rotate', () => {
    expect(value({ WEBHOOKS: [endpoint], HOOK_SECRET: `${secret} ${other}` }).webhooks[0]?.secrets).toEqual([
      secret,
      other,
    ])
  })

  it.each([
    ['plain http', { url: 'http://shop.example/hooks' }, 'WEBHOOKS.0.url'],
    ['a password, which no request would have', { url: 'https://shop:word@shop.example/hooks' }, 'WEBHOOKS.0.url'],
    ['an unknown type', { types: ['deposit.lost'] }, 'WEBHOOKS.0.types.0'],
    ['a misspelled member', { type: ['deposit.seen'] }, 'WEBHOOKS.0'],
    ['no type', { types: [] }, 'WEBHOOKS.0.types'],
    ['no name of a secret', { secretVar: undefined }, 'WEBHOOKS.0.secretVar'],
    ['a secret that is not set', { secretVar: 'NOTHING' }, 'WEBHOOKS.0.secretVar'],
  ])('is refused with %s', (_, changes, place) => {
    expect(faults({ WEBHOOKS: [{ ...endpoint, ...changes }] }).map(placeOf)).toEqual([place])
  })

  it.each([
    ['without whsec_', btoa('s'.repeat(32))],
    ['that is short', `whsec_${btoa('s'.repeat(23))}`],
    ['that is long', `whsec_${btoa('s'.repeat(65))}`],
    ['that is not base64', `whsec_${'!'.repeat(40)}`],
    ['with a digit too many', `whsec_${'a'.repeat(33)}`],
    ['with two spaces', `${secret}  ${other}`],
    ['of three', `${secret} ${other} ${secret}`],
    ['that is empty', ''],
  ])('is refused with a secret %s, which no fault shows', (_, text) => {
    const found = faults({ WEBHOOKS: [endpoint], HOOK_SECRET: text })
    expect(found.map(placeOf)).toEqual(['WEBHOOKS.0.secretVar'])
    if (text !== '') expect(found.join()).not.toContain(text)
  })

  it('is refused with one URL twice, and with more than ten', () => {
    expect(faults({ WEBHOOKS: [endpoint, { ...endpoint, url: 'https://SHOP.example/hooks' }] })).toHaveLength(1)
    const many = Array.from({ length: 11 }, (_, n) => ({ ...endpoint, url: `https://shop.example/${n}` }))
    expect(faults({ WEBHOOKS: many })).toHaveLength(1)
  })

  it('accepts every type of event', () => {
    expect(value({ WEBHOOKS: [{ ...endpoint, types: eventTypes }] }).webhooks[0]?.types).toEqual(new Set(eventTypes))
  })
})

describe('the times of scans and events', () => {
  it('have defaults', () => {
    expect(value({})).toMatchObject({ scanEverySeconds: 20, eventsKeepDays: 90 })
    expect(value({ SCAN_EVERY_SECONDS: '10', EVENTS_KEEP_DAYS: 7 })).toMatchObject({
      scanEverySeconds: 10,
      eventsKeepDays: 7,
    })
  })

  it.each([
    ['SCAN_EVERY_SECONDS', 9],
    ['SCAN_EVERY_SECONDS', 61],
    ['SCAN_EVERY_SECONDS', '10.5'],
    ['EVENTS_KEEP_DAYS', 0],
    ['EVENTS_KEEP_DAYS', 'ever'],
  ])('refuse %s %s', (name, wrong) => {
    expect(faults({ [name]: wrong }).map(placeOf)).toEqual([name])
  })
})
