/** Texts that the browser stores for a page. */
export interface Memory {
  /** Null if nothing is stored. */
  read(name: string): string | null
  /** Stores a text under a name of this page; null removes it. */
  write(name: string, value: string | null): void
}

/**
 * Stored until the tab is closed. A reload does not remove the texts, nor does a phone that unloads
 * the tab.
 */
export const tabMemory = memoryIn(() => sessionStorage)
/** Stored permanently, so it must contain nothing secret. */
export const browserMemory = memoryIn(() => localStorage)

/**
 * Some browsers refuse to store anything, for example in a frame. Then `read` returns null, and the
 * page works without memory.
 */
function memoryIn(open: () => Storage): Memory {
  const key = (name: string) => `${location.pathname} ${name}`
  const attempt = <T>(use: (storage: Storage) => T): T | null => {
    try {
      return use(open())
    } catch {
      return null
    }
  }
  return {
    read: (name) => attempt((storage) => storage.getItem(key(name))),
    write(name, value) {
      attempt((storage) => (value === null ? storage.removeItem(key(name)) : storage.setItem(key(name), value)))
    },
  }
}
