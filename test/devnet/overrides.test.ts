import { expect, it } from 'vitest'
import { readVariable } from './local.ts'
import { findOverrides, overrideLines, usualAddresses } from './overrides.ts'

const shop = 'http://127.0.0.1:8791'
const usual = { chain: null, receiver: null, shop }
const reader = (own: Readonly<Record<string, string>>) => (name: string) => own[name]

it('the origins of the developer stay beside that of the shop', () => {
  const own = { PAGE_ORIGINS: '["http://localhost:3000"]' }
  expect(findOverrides(usual, reader(own))).toEqual({ PAGE_ORIGINS: `["http://localhost:3000","${shop}"]` })
  expect(findOverrides(usual, reader({}))).toEqual({ PAGE_ORIGINS: `["${shop}"]` })
  expect(findOverrides(usual, reader({ PAGE_ORIGINS: `["${shop}"]` }))).toEqual({})
})

it('on other ports, endpoints and nodes of the developer stay, and the ones of npm start follow the ports', () => {
  const own = {
    WEBHOOKS: `[{"url":"https://own.example/hook","secretVar":"OWN"},{"url":"${usualAddresses.receiver}","secretVar":"WEBHOOK_SECRET"}]`,
    TRON_NODES: `[{"rpc":"${usualAddresses.chain}/jsonrpc","api":"${usualAddresses.chain}"},{"rpc":"https://own.example/jsonrpc","api":"https://own.example"}]`,
  }
  const additions = { chain: 'http://127.0.0.1:9201', receiver: 'http://127.0.0.1:8904', shop: null }
  expect(findOverrides(additions, reader(own))).toEqual({
    WEBHOOKS:
      '[{"url":"https://own.example/hook","secretVar":"OWN"},{"url":"http://127.0.0.1:8904","secretVar":"WEBHOOK_SECRET"}]',
    TRON_NODES:
      '[{"rpc":"http://127.0.0.1:9201/jsonrpc","api":"http://127.0.0.1:9201"},{"rpc":"https://own.example/jsonrpc","api":"https://own.example"}]',
  })
})

it('the addresses that npm start moves are those of its own settings', () => {
  const additions = { chain: 'http://127.0.0.1:9201', receiver: 'http://127.0.0.1:8904', shop: null }
  expect(Object.keys(findOverrides(additions, readVariable))).toEqual(['TRON_NODES', 'WEBHOOKS'])
})

it('a value that is no list is left to the service, which says what is wrong with it', () => {
  expect(findOverrides(usual, reader({ PAGE_ORIGINS: 'http://localhost:3000' }))).toEqual({})
})

it('each setting of the developer that has another value is named in one line', () => {
  const changes = { PAGE_ORIGINS: `["https://own.example","${shop}"]` }
  const line = `PAGE_ORIGINS of .dev.vars is ["https://own.example","${shop}"] in this run`
  expect(overrideLines(changes, reader({ PAGE_ORIGINS: '["https://own.example"]' }))).toEqual([line])
  expect(overrideLines(changes, reader({}))).toEqual([])
})
