import { createServer } from 'node:net'
import { UserError } from '../support/project.ts'

/** The ports of one running copy. */
export interface Ports {
  readonly service: number
  readonly tron: number
  readonly anvil: number
  /** Of the receiver of events. */
  readonly receiver: number
}

/** The ports from `PORT` and `DEVNET_PORT`. anvil's port follows that of the Tron server, and the receiver's that of the service. */
export function readPorts(): Ports {
  const service = readPort('PORT', 8787)
  const tron = readPort('DEVNET_PORT', 9090)
  return { service, tron, anvil: tron + 1, receiver: service + 3 }
}

/** Whether no program listens on a port of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function readPort(name: string, defaultPort: number): number {
  const given = process.env[name]
  if (given === undefined || given === '') return defaultPort
  const port = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (port < 1 || port > 65_532) throw new UserError(`${name} must be a port from 1 to 65532, not "${given}".`)
  return port
}
