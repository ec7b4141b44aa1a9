import type { refusals } from '../../src/worker/tron/node-errors.ts'
import ipLimit from '../recordings/documented/rate-limit-of-trongrid-ip.json' with { type: 'json' }
import keyLimit from '../recordings/documented/rate-limit-of-trongrid-key.json' with { type: 'json' }
import documented from '../recordings/documented/refusals.json' with { type: 'json' }
import { recording } from '../recordings/recordings.ts'
import { type Fault, failing } from '../support/scripted-node.ts'

/** How one service of a node refuses a request. */
export interface RefusalReply {
  readonly what: string
  readonly service: 'rpc' | 'api'
  readonly fault: Fault
}

const byStatus = (status: number, body = `HTTP ${status}`): Fault => ({ kind: 'status', status, body })
const api = (what: string, fault: Fault): RefusalReply => ({ what, service: 'api', fault })
const rpc = (what: string, fault: Fault): RefusalReply => ({ what, service: 'rpc', fault })

/** The documented refusal whose description begins with `what`. Throws if there is none. */
function of(service: RefusalReply['service'], what: string): RefusalReply {
  const found = documented.find((one) => one.what.startsWith(what))
  if (found === undefined) throw new Error(`no refusal: ${what}`)
  return { what: found.what, service, fault: byStatus(found.status, found.body) }
}

const recordedLimit = JSON.stringify(recording('transport/replies-that-are-not-json-rpc')[0]?.response)

/**
 * Replies with which nodes refuse a request: for each row of the table `refusals` those that the
 * row must recognize, and under `in no row` those that no row may recognize. They are recorded from
 * nodes, documented by providers, or written as a gateway would write them.
 */
export const refusalReplies: Readonly<Record<keyof typeof refusals | 'in no row', readonly RefusalReply[]>> = {
  'api-off': [of('api', 'a path that node.disabledApi names')],
  'not-found': [api('a wrong path at a gateway', byStatus(404, 'no such service')), rpc('the same', byStatus(404, ''))],
  'body-too-large': [of('rpc', 'a body above node.http.maxMessageSize')],
  'method-refused': [api('another path of a node', byStatus(405)), rpc('a gateway without batches', byStatus(405))],
  'server-error': [
    api('a gateway whose node is away', byStatus(502, '<html>')),
    rpc('a status comes before a text', byStatus(500, '{"Error":"too many requests"}')),
  ],
  'key-refused': [
    api('a gateway that wants a key', byStatus(401, '{"message":"bad key"}')),
    rpc('the same', byStatus(401)),
  ],
  forbidden: [api('a plan that lacks it', byStatus(403, '{"message":"Forbidden"}'))],
  unavailable: [rpc('TronGrid', byStatus(503, '<html>')), api('a gateway that finds no node', byStatus(503, ''))],
  'too-many': [api('a gateway', byStatus(429, 'Too Many Requests'))],
  'too-many-by-text': [
    rpc('the limiter of java-tron 4.8.0', byStatus(200, recordedLimit)),
    api('TronGrid above the limit of a key', byStatus(403, JSON.stringify(keyLimit))),
    of('api', 'the limiter after pull request 6954'),
    api('TronGrid above the limit of an IP address', byStatus(200, JSON.stringify(ipLimit))),
    rpc('a gateway, in an error of JSON-RPC', failing('eth_getLogs', -32005, 'daily rate limit reached')),
  ],
  'lite-node': [of('api', 'a lite node')],
  'request-refused': [
    api('a gateway', byStatus(400, '{"message":"unsupported"}')),
    rpc('a gateway without batches', byStatus(501)),
  ],
  'reply-too-large': [rpc('a gateway', failing('eth_getLogs', -32003, 'Response exceeds the limit of 26214400 bytes'))],
  'too-many-results': [
    rpc('java-tron', failing('eth_getLogs', -32005, 'query returned more than 10000 results')),
    rpc('java-tron from 4.8.2 on', { kind: 'batch-limit', callsMax: 2, code: -32005 }),
  ],
  'no-method': [rpc('a port without it', failing('eth_getLogs', -32601, 'the method eth_getLogs does not exist'))],
  'not-taken': [
    rpc('a provider that wants a filter', failing('eth_getLogs', -32600, 'address or topics are required')),
  ],
  'in no row': [
    of('api', 'an exception after pull request 6954'),
    of('api', "mainnet's block 40134306 at every node"),
    of('rpc', 'an exception of the JSON-RPC servlet'),
    rpc('an exception of the log index', failing('eth_getLogs', -32000, 'section bloom is lost')),
    api('an empty body', byStatus(200, '')),
    api('a body that is not JSON', byStatus(200, '<html>too</html>')),
    api('a status that nobody knows', byStatus(418)),
  ],
}
