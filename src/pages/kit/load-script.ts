/**
 * Loads a script on first use; null if that fails. A browser does not request a failed script again, so another attempt uses another URL: `url` is relative to
 * the script of the page.
 */
export async function loadScript<Script>(load: () => Promise<Script>, url: string): Promise<Script | null> {
  try {
    return await load()
  } catch {
    const again = `${url}?${performance.now()}`
    return (import(again) as Promise<Script>).catch(() => null) // the same script
  }
}
