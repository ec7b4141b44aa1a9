import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listen } from '../../support/loopback.ts'
import { printLine } from '../../support/project.ts'
import type { SigningCase } from './case.ts'

/**
 * A Tron node that shows the newest block of the case and its newest final one. Libraries ask a
 * node for these blocks when they make a transaction with their default settings.
 */
const [, , casePath = ''] = process.argv
const { head, newest } = JSON.parse(readFileSync(casePath, 'utf8')) as SigningCase // written by case.ts

const shown = ({ height, hash, timestamp }: SigningCase['head']) => {
  return { blockID: hash, block_header: { raw_data: { number: height, timestamp } } }
}
const server = await listen(
  createServer((request, response) => {
    const isFinal = request.url?.startsWith('/walletsolidity/') ?? false
    const isBlock = /\/(getnowblock|getblock)$/.test(request.url ?? '')
    response.writeHead(200, { 'content-type': 'application/json' })
    const block = shown(isFinal ? head : newest)
    const info = { solidityBlock: `Num:${head.height},ID:${head.hash}` }
    response.end(JSON.stringify(isBlock ? block : request.url === '/wallet/getnodeinfo' ? info : {}))
  }),
)
printLine(server.url)
