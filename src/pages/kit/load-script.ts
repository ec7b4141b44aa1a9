/**
 * Loads a script; null if a second attempt fails as well. A browser does not request a failed
 * script again, so the second attempt uses another URL. `url` is that of the script, relative to
 * the main script of the page.
 */
export async function loadScript<Script>(load: () => Promise<Script>, url: string): Promise<Script | null> {
  try {
    return await load()
  } catch {
    const again = `${url}?${performance.now()}`
    return (import(again) as Promise<Script>).catch(() => null) // safe: the same script
  }
}
