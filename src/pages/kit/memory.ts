/** What the browser keeps for a page. */
export interface Memory {
  /** Null where nothing is kept. */
  read(name: string): string | null
  /** Keeps a text under a name of this page; null ends it. */
  write(name: string, value: string | null): void
}

/** Until the tab is closed: also over a reload, and for a tab that a phone has put aside. */
export const tabMemory = memoryIn(() => sessionStorage)
/** For good. Nothing secret. */
export const browserMemory = memoryIn(() => localStorage)

/** A browser can keep nothing, as in some frames: the page goes on without. */
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
