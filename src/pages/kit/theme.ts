/**
 * Sets the light or dark theme, from `?theme=` or else the system, as an attribute for the style
 * sheets.
 */
export function applyTheme(): void {
  const root = document.documentElement
  const asked = new URLSearchParams(location.search).get('theme')
  if (asked === 'light' || asked === 'dark') {
    root.dataset.theme = asked
    return
  }
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    root.dataset.theme = system.matches ? 'dark' : 'light'
  }
  system.addEventListener('change', apply)
  apply()
}
