import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenAmount, tokenTransfer, tokenTransfers, transferTopic } from '../../src/deposits/trc20.ts'
import { anyAddress, anyRaw } from '../support/arbitraries.ts'
import { currencies, usdt } from '../support/currencies.ts'
import { alice, block, fakeContract, log, stranger, topic, txid, word } from './samples.ts'

describe('a token transfer', () => {
  it('has the hash of the Transfer event as its first topic', () => {
    expect(transferTopic).toBe(`0x${bytesToHex(keccak_256(utf8ToBytes('Transfer(address,address,uint256)')))}`)
  })

  it('has the parties and the amount of its log', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, anyRaw, (from, to, raw) => {
        const transfer = tokenTransfer(log({ from, to, raw }), currencies)
        expect(transfer).toMatchObject({ from, to, currency: usdt })
        expect(transfer && tokenAmount(transfer)).toBe(raw)
      }),
    )
  })

  const from = topic(stranger)
  const to = topic(alice.address)
  it.each([
    ['another contract', log({ contract: fakeContract })],
    ['no topics', log({ topics: [] })],
    ['two topics', log({ topics: [transferTopic, from] })],
    ['four topics and no data (TRC-721)', log({ topics: [transferTopic, from, to, word(7n)], data: '0x' })],
    ['four topics and data', log({ topics: [transferTopic, from, to, word(7n)] })],
    ['the topic of another event', log({ topics: [word(1n), from, to] })],
    ['the topic of the event in capitals', log({ topics: [transferTopic.toUpperCase(), from, to] })],
    ['a sender after a byte that is not zero', log({ topics: [transferTopic, from.replace('0x00', '0x01'), to] })],
    ['a recipient after 0x41', log({ topics: [transferTopic, from, `0x${'0'.repeat(22)}41${alice.address}`] })],
    ['a recipient topic of 20 bytes', log({ topics: [transferTopic, from, `0x${alice.address}`] })],
    ['a recipient topic of 33 bytes', log({ topics: [transferTopic, from, `0x00${to.slice(2)}`] })],
    ['no data', log({ data: '0x' })],
    ['31 bytes of data', log({ data: word(1n).slice(0, -2) })],
    ['33 bytes of data', log({ data: `${word(1n)}00` })],
    ['64 bytes of data', log({ data: word(1n) + word(1n).slice(2) })],
    ['an amount of 0', log({ raw: 0n })],
  ])('is not a log with %s', (_, lookAlike) => {
    expect(tokenTransfer(lookAlike, currencies)).toBeNull()
  })

  it('is found among the other logs of a block', () => {
    const logs = [log({ contract: fakeContract }), log({ position: 1 }), log({ txid: txid(2), raw: 5n })]
    expect(tokenTransfers(block([], logs), currencies).map((one) => one.log)).toEqual(logs.slice(1))
  })
})
