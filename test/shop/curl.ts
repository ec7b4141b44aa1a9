/**
 * Sends what a `curl` command in a document sends, without curl: `-H` and `-d` with their values,
 * and the URL. Variables of the shell (`$NAME`) are replaced by `variables`.
 */
export async function runCurl(command: string, variables: Readonly<Record<string, string>>): Promise<Response> {
  const line = command.replaceAll(/\\\n/g, ' ').trim()
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, plain, quoted, bare]) => plain ?? fillIn(quoted ?? bare ?? '', variables),
  )
  const headers = new Headers()
  let url: string | undefined
  let body: string | undefined
  if (words.shift() !== 'curl') throw new Error(`no curl command: ${line}`)
  while (words.length > 0) {
    const word = words.shift() ?? ''
    if (word === '-H') headers.append(...headerOf(words.shift() ?? ''))
    else if (word === '-d') body = words.shift()
    else if (url === undefined && !word.startsWith('-')) url = word
    else throw new Error(`an option that is not known here: ${word}`)
  }
  if (url === undefined) throw new Error(`no URL: ${line}`)
  return await fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body })
}

function headerOf(text: string): [name: string, value: string] {
  const colon = text.indexOf(':')
  return [text.slice(0, colon), text.slice(colon + 1).trim()]
}

function fillIn(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = variables[name]
    if (value === undefined) throw new Error(`no variable ${name}`)
    return value
  })
}
