import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project.ts'

/** Every file of the repository, as git lists them. */
export const repositoryFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
})
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

/** The TypeScript files of `src`. */
export const sources = repositoryFiles.filter((file) => /^src\/.*\.ts$/.test(file))

/** The text of a file of the repository. */
export const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** The names that a text exports where it declares them. */
export const exportsOf = (text: string) =>
  [
    ...text.matchAll(/^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm),
  ].flatMap((match) => match[1] ?? [])
