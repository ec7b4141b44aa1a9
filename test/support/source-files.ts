import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project.ts'

/** The paths of all files that git tracks or would add, as far as they exist. */
export const repositoryFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
})
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

export const sources = repositoryFiles.filter((file) => /^src\/.*\.ts$/.test(file))

/** The text of a file, by its path in the repository. */
export const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** The names that a module exports at their declarations; `export { … }` is not read. */
export const exportsOf = (text: string) =>
  [
    ...text.matchAll(/^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm),
  ].flatMap((match) => match[1] ?? [])
