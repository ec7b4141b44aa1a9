/**
 * A page of another origin that embeds `/deposit`, gives it a token and sets the frame's height, as
 * docs/integrate.md shows.
 */
import { createServer } from 'node:http'
import { listen, type RunningServer } from '../support/loopback.ts'

/**
 * The example of docs/integrate.md. `wallet` is the service's origin; `tokenPath` is where the site
 * returns a token of the signed-in user.
 */
export const embeddingExample = (
  wallet: string,
  tokenPath = '/token',
) => `<iframe id="deposit" src="${wallet}/deposit" title="Deposit" allow="clipboard-write"
  style="width: 100%; height: 40rem; border: 0"></iframe>
<script>
  const frame = document.getElementById('deposit')
  addEventListener('message', async ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== '${wallet}') return
    if (data?.type === 'height') frame.style.height = \`\${Number(data.px)}px\`
    // a hint: ask your own server
    if (data?.type === 'state') dispatchEvent(new CustomEvent('deposit', { detail: data }))
    if (data?.type !== 'token-wanted') return
    const token = await (await fetch('${tokenPath}')).text() // from your own server, which knows who is signed in
    frame.contentWindow.postMessage({ type: 'token', token }, '${wallet}')
  })
</script>`

/**
 * Serves the example on a free port. `token` is called whenever the embedded page asks for a token.
 */
export async function startEmbeddingPage(
  wallet: string,
  token: () => Promise<string> | string,
): Promise<RunningServer> {
  const server = createServer(async (request, response) => {
    if (request.url === '/token') return void response.end(await token())
    const html = `<!doctype html><html lang="en"><title>Shop</title><body>${embeddingExample(wallet)}`
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
  })
  return listen(server)
}
