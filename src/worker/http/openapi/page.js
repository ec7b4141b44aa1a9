// The page at /docs. It shows /openapi.json of its own deployment, and sends its requests to that
// deployment.

// Light or dark by the system: the style sheet of Swagger UI has both.
const dark = matchMedia('(prefers-color-scheme: dark)')
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', applyTheme)
applyTheme()

const tokens = takeTokens()
const isAboutReasons = location.hash === '#reasons' // Swagger UI changes the hash
const ui = window.SwaggerUIBundle({
  url: '/openapi.json',
  domNode: document.getElementById('docs'),
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  supportedSubmitMethods: ['get', 'post'],
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // otherwise the URL of the document is sent to another service
  // The browser does not store a token.
  persistAuthorization: false,
  onComplete() {
    for (const [scheme, token] of tokens) ui.preauthorizeApiKey(scheme, token)
    showReasons(ui.specSelectors.specJson().getIn(['components', 'schemas', 'Reason']).toJS())
  },
})
showTokenHelp()
new MutationObserver(repair).observe(document.getElementById('docs'), { childList: true, subtree: true })

/**
 * Takes the tokens out of the fragment of the page's URL, as pairs of scheme and token. `at` is the
 * fragment before the tokens came: it comes back.
 */
function takeTokens() {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const found = ['bearer', 'backend'].filter((name) => parameters.has(name)).map((name) => [name, parameters.get(name)])
  const at = parameters.get('at') ?? ''
  if (found.length > 0) history.replaceState(null, '', location.pathname + (at.startsWith('#') ? at : ''))
  return found
}

/**
 * On this machine `npm start` has a shop four ports above the service, which signs tokens. A
 * deployment has no such link.
 */
function showTokenHelp() {
  const help = document.getElementById('tokens')
  if (!/^(localhost|127\.0\.0\.1)$/.test(location.hostname)) return
  const link = document.createElement('a')
  link.href = `http://127.0.0.1:${Number(location.port) + 4}/docs-tokens?at=${encodeURIComponent(location.hash)}`
  link.textContent = tokens.length > 0 ? 'New tokens' : 'Use tokens of this machine'
  help.append(
    tokens.length > 0 ? 'Requests have tokens of this machine for an hour: user 1, and a backend. ' : '',
    link,
    tokens.length > 0 ? '' : ' (user 1, and a backend; with "npm start" only)',
  )
  help.hidden = false
}

/**
 * Lists the reasons at the end of the page, and scrolls there if the page was opened at `#reasons`.
 */
function showReasons({ description, 'x-enumDescriptions': texts }) {
  const section = document.getElementById('reasons')
  if (!section.hidden) return
  const list = document.createElement('dl')
  for (const [word, text] of Object.entries(texts)) {
    const [name, meaning] = [document.createElement('dt'), document.createElement('dd')]
    name.append(...richText(`\`${word}\``))
    meaning.append(...richText(text))
    list.append(name, meaning)
  }
  const about = document.createElement('p')
  about.append(...richText(description))
  section.append(about, list)
  section.hidden = false
  // by then the routes are drawn above it
  if (isAboutReasons) requestAnimationFrame(() => requestAnimationFrame(() => section.scrollIntoView()))
}

/** Elements for a text of the document, whose Markdown is only \`code\` and **bold**. */
function richText(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (!/^[`*]/.test(part)) return part
    const element = document.createElement(part.startsWith('`') ? 'code' : 'strong')
    element.textContent = part.replaceAll(/^(`|\*\*)|(`|\*\*)$/g, '')
    return element
  })
}

/**
 * Adds what Swagger UI leaves out for people who use a screen reader or a keyboard. Runs after
 * every change of the page, and repairs each element once.
 */
function repair() {
  const parts = document.querySelectorAll(
    '#docs :is(select, h3, h4, h5, a.nostyle[href], .info a[href^="#"], .info .renderedMarkdown pre, pre.microlight, [role="region"], .information-container, .scheme-container)',
  )
  for (const part of parts) {
    if (part.dataset.isRepaired) continue
    part.dataset.isRepaired = 'yes'
    repairOne(part)
  }
}

function repairOne(part) {
  if (part.matches('select')) return nameSelect(part)
  if (part.matches('.info a')) return part.removeAttribute('target') // it leads to a part of this page
  if (part.matches('a')) return part.removeAttribute('href') // it is in a button, which opens the same
  if (part.matches('table')) return part.removeAttribute('role') // or a screen reader does not read it as a table
  if (part.matches('div, section')) return nameRegion(part)
  if (part.matches('.info pre:not(.version)')) placeCalls(part)
  if (part.matches('pre')) {
    part.tabIndex = 0 // it scrolls, and a keyboard can scroll only what has the focus
    return
  }
  part.setAttribute('role', 'heading') // h3 becomes level 2: the title of the document, an h2, is level 1
  part.setAttribute('aria-level', String(Number(part.tagName[1]) - 1))
}

/** Puts the origin of this deployment into the example calls of the introduction. */
function placeCalls(calls) {
  const code = calls.querySelector('code') ?? calls
  code.textContent = code.textContent.replaceAll('$WALLET', location.origin)
}

function nameSelect(select) {
  const row = select.closest('tr')?.querySelector('.parameter__name')?.firstChild?.textContent
  const known = select.id === 'servers' ? 'Server' : select.matches('.examples-select-element') ? 'Example' : null
  select.setAttribute('aria-label', known ?? row ?? 'Media type')
}

function nameRegion(part) {
  part.setAttribute('role', 'region')
  part.setAttribute('aria-label', part.matches('.scheme-container') ? 'Server and tokens' : 'About this document')
}
