import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/pages/deposit/languages/en.ts'
import { zh } from '../../src/pages/deposit/languages/zh.ts'
import { enDesk } from '../../src/pages/desk/languages/en.ts'
import { zhDesk } from '../../src/pages/desk/languages/zh.ts'
import { isZero, unitsOf } from '../../src/pages/kit/decimal.ts'
import { createFormat } from '../../src/pages/kit/format.ts'
import { findTxid, parseExact, readerOf, readText, type Shape } from '../../src/pages/kit/read.ts'
import { preferredLanguage } from '../../src/pages/kit/texts.ts'
import {
  depositsShape,
  eventsShape,
  ownedDepositsShape,
  ownPayoutsShape,
  payoutsShape,
} from '../../src/pages/shapes.ts'
import { darkPage } from '../../src/worker/config/brand.ts'
import { root } from '../support/project.ts'
import { sources, textOf } from '../support/source-files.ts'
import { happened, owned } from './desk-story.ts'
import { paidOut } from './payout-fixture.ts'
import { txidOf } from './story.ts'

describe('exact amounts', () => {
  it('are read digit by digit, and only where they are amounts', () => {
    const text =
      '{"amt":9007199254740993.000001,"balance" : -0.10 ,"id":5,"mark":"\\"amt\\":7 \\\\\\"balance\\":8","l":[{"amt":1}]}'
    expect(parseExact(text)).toEqual({
      amt: '9007199254740993.000001',
      balance: '-0.10',
      id: 5,
      mark: '"amt":7 \\"balance":8',
      l: [{ amt: '1' }],
    })
  })

  it.each([
    ['en', '1234567890123456789.5', '1,234,567,890,123,456,789.5'],
    ['de-DE', '-9007199254740993.000001', '−9.007.199.254.740.993,000001'],
    ['hi-IN', '1234567.25', '12,34,567.25'],
    ['ar-EG', '12.5', '١٢٫٥'],
    ['zh-CN', '-0.5', '−0.5'],
    ['no such locale', '1000', '1,000'],
  ])('are written in the format of %s', (locale, decimal, written) => {
    expect(createFormat([locale]).amount(decimal)).toBe(written)
  })

  it('are compared as integers', () => {
    expect([unitsOf('1.5', 3), unitsOf('-0.000001', 6), isZero('-0.00'), isZero('0.01')]).toEqual([
      1500n,
      -1n,
      true,
      false,
    ])
  })
})

describe('times', () => {
  it('are written in the format of the reader; what is no time or amount stays as it is', () => {
    const format = createFormat(['de-DE'])
    expect(format.time('2026-11-22T14:05:00.000Z')).toMatch(/^2\d\.11\.2026, \d\d:\d\d$/)
    expect([format.time('soon'), format.amount('much')]).toEqual(['soon', 'much'])
  })
})

describe('texts of the service', () => {
  it('lose characters that deceive, and are cut', () => {
    expect(readText('a\u202Eb\u0000c\u200bd\n')).toBe('abcd')
    expect(readText('x'.repeat(5_000)).length).toBe(500)
  })
})

describe('an answer', () => {
  const of = (shape: Shape) => readerOf({ shape })

  it.each<[string, Shape, unknown, unknown]>([
    ['without a member that may be null or absent', { orNull: 'text' }, {}, { one: null }],
    ['with a member that is not known', 'integer', { one: 7, other: 8 }, { one: 7 }],
    ['with a whole number that was kept as a text', 'integer', { one: '7' }, { one: 7 }],
    ['with one of two kinds of value', { either: ['integer', 'text'] }, { one: 'i7' }, { one: 'i7' }],
  ])('is read %s', (_, one, sent, read) => {
    expect(of({ members: { one } })(sent)).toEqual(read)
  })

  it('of a newer service is read with its states, reasons and types of events that the page does not know', () => {
    const state = { state: 'parked', reason: 'too-new', why: 'a sentence' }
    const deposits = { list: [owned(1, 'held', { ...state, amt: '25' })], count: 1 }
    expect(readerOf(ownedDepositsShape)(deposits).list).toMatchObject([{ ...state, seconds: null, decided: null }])
    expect(readerOf(depositsShape)(deposits).list).toMatchObject([state])
    const payouts = { list: [paidOut(1, 'parked', { ...state, amt: '10', fee: '0' })], count: 1 }
    expect(readerOf(payoutsShape)(payouts).list).toMatchObject([{ ...state, txid: null, moved: null }])
    expect(readerOf(ownPayoutsShape)(payouts).list).toMatchObject([{ state: 'parked', txid: null }])
    const data = { txid: txidOf(1), amt: '5', newMember: [7] }
    const events = { list: [happened(1, 'deposit.parked', data)], count: 1 }
    const { list } = readerOf(eventsShape)(events)
    expect(list).toMatchObject([
      { type: 'deposit.parked', data: { txid: txidOf(1), amt: '5', cuy: null, entry: null } },
    ])
  })

  it('of a payout has the amounts or the units that have left the payout address', () => {
    const moved = [
      { to: 'a', cuy: 2, amt: '25' },
      { to: 'b', contract: 'c', units: '12' },
    ]
    const payouts = { list: [paidOut(1, 'stuck', { amt: '10', fee: '0', moved })], count: 1 }
    expect(readerOf(payoutsShape)(payouts).list[0]?.moved).toEqual([
      { to: 'a', cuy: 2, amt: '25', contract: null, units: null },
      { to: 'b', cuy: null, amt: null, contract: 'c', units: '12' },
    ])
  })

  it.each<[Shape, unknown]>([
    ['text', {}],
    ['text', { one: null }],
    ['integer', { one: 1.5 }],
    ['amount', { one: 1 }],
    [{ list: 'flag' }, { one: { 0: true } }],
    [{ either: ['integer', 'flag'] }, { one: 'yes' }],
  ])('is refused whole where its %j has another form: %j', (one, sent) => {
    expect(() => of({ members: { one } })(sent)).toThrow(TypeError)
  })
})

describe('a transaction number', () => {
  const txid = 'ab'.repeat(32)
  it.each([
    [` ${txid.toUpperCase()}\n`, txid],
    [`0x${txid}`, txid],
    [`https://tronscan.org/#/transaction/${txid}?lang=en`, txid],
    [`${txid} ${txid}`, txid],
    [`${txid} ${'cd'.repeat(32)}`, null],
    [txid.slice(1), null],
    [`${txid}a`, null],
    ['', null],
  ])('is found in %j', (pasted, found) => expect(findTxid(pasted)).toBe(found))
})

describe('the texts', () => {
  const { alarms, ...ofDesk } = enDesk // a type already demands a text for every alarm
  // safe: a key of `en`
  const both = Object.entries(en).map(([name, words]) => [name, [words, zh[name as keyof typeof en]]] as const)
  const desk = Object.entries(ofDesk).map(
    ([name, words]) => [name, [words, zhDesk[name as keyof typeof ofDesk]]] as const,
  ) // safe: a key of `ofDesk`
  /** Pairs each English text of a table, however nested, with the Chinese text of the same name. */
  const pairsIn = ([name, [words, other]]: readonly [string, readonly [unknown, unknown]]): readonly (readonly [
    string,
    readonly [unknown, unknown],
  ])[] =>
    typeof words !== 'object' || words === null
      ? [[name, [words, other]]]
      : Object.entries(words).flatMap(([key, inside]) => pairsIn([`${name} ${key}`, [inside, Object(other)[key]]]))
  const all = [...desk, ...both].flatMap(pairsIn)

  it.each(all)('%s says the same in both languages: not empty, with every part', (_name, [english, chinese]) => {
    if (typeof english !== 'function' || typeof chinese !== 'function') {
      expect([english, chinese].every((text) => typeof text === 'string')).toBe(true)
      return
    }
    const parts = ['<1>', '<2>', '<3>', '<4>'] as const
    const used = (words: (...given: string[]) => string) => parts.filter((part) => words(...parts).includes(part))
    expect(used(chinese as never)).toEqual(used(english as never)) // safe: functions of texts
    expect(used(english as never).length).toBe(english.length)
  })

  it('come in the first language of the reader that there is', () => {
    const languages = [['fr', 'zh-TW', 'en'], ['fr'], ['en-GB', 'zh'], []].map(preferredLanguage)
    expect(languages).toEqual(['zh', 'en', 'en', 'en'])
  })
})

describe('the source of the pages', () => {
  const files = sources.filter((file) => file.startsWith('src/pages/'))

  it('never inserts markup, runs text or reads a clock that can be wrong', () => {
    expect(files.length).toBeGreaterThan(20)
    const sinks =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|srcdoc|Date\.now/
    expect(files.filter((file) => sinks.test(textOf(file)))).toEqual([])
  })

  it('has the dark page that colours of brands are compared with', () => {
    const dark = /\[data-theme="dark"\] \{([^}]*)\}/.exec(textOf('src/pages/kit/base.css'))?.[1]
    expect(dark).toContain(`--paper: ${darkPage};`)
  })

  it('keeps things in one place alone', () => {
    const keepers = files.filter((file) => /localStorage|sessionStorage|indexedDB|document\.cookie/.test(textOf(file)))
    expect(keepers).toEqual(['src/pages/kit/memory.ts'])
  })

  it.each([
    ['deposit', ['data:,', '/deposit/first.js', '/licences.txt', '/deposit/page.css', '/deposit/page.js']],
    ['desk', ['/licences.txt', 'data:,', '/desk/page.css', '/desk/page.js']],
  ])('of %s loads nothing from elsewhere', (name, files) => {
    const html = readFileSync(`${root}src/pages/${name}/page.html`, 'utf8')
    expect([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)).toEqual(files)
  })
})
