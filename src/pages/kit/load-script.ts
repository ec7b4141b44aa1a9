/**
 * A script that is loaded when it is used; null where it cannot be had now. A browser never asks again for one that it has not got, so
 * that a further try has an address of its own: `url` is relative to the script of the page.
 */
export async function loadScript<Script>(load: () => Promise<Script>, url: string): Promise<Script | null> {
  try {
    return await load()
  } catch {
    const again = `${url}?${performance.now()}`
    return (import(again) as Promise<Script>).catch(() => null) // the same script
  }
}
