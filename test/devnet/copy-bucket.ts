import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The part of R2's binding that is used, in any of its types. */
interface ListedBucket {
  list(options: { cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string }[]
    readonly truncated: boolean
    readonly cursor?: string
  }>
  get(key: string): Promise<{ text(): Promise<string> } | null>
}

/** Copies what a bucket has and a folder lacks. An object of an archive never changes. */
export async function copyBucket(bucket: ListedBucket, folder: string): Promise<void> {
  let next: { cursor?: string } | null = {}
  while (next !== null) {
    const page: Awaited<ReturnType<ListedBucket['list']>> = await bucket.list(next)
    for (const { key } of page.objects) {
      const path = join(folder, key)
      if (existsSync(path)) continue
      const text = await (await bucket.get(key))?.text()
      if (text === undefined) continue
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(`${path}.new`, text)
      renameSync(`${path}.new`, path)
    }
    next = page.cursor !== undefined && page.truncated ? { cursor: page.cursor } : null
  }
}
