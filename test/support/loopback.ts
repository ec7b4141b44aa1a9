import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RunningServer {
  readonly url: string
  /** Stops the server and closes all of its connections. */
  close(): Promise<void>
}

/** Makes a server listen on a port of the loopback interface; 0 chooses a free one. */
export async function listen(server: Server, wanted = 0): Promise<RunningServer> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(wanted, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo // safe: the server listens on TCP
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, close }
}
