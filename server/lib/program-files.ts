/**
 * True if the program runs from its TypeScript files. The program has two other forms: bundles in one folder, and an
 * executable file that contains the bundles in its own file system.
 */

const isSource = import.meta.path.endsWith('.ts')

/**
 * True if the program runs as an executable file. Bun mounts the contents of such a file under one of the paths in this
 * pattern, depending on the operating system.
 */
export const isExecutableFile = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i.test(import.meta.path)

/** The words that start the program on the command line, as shown in help texts. */
export const programName = isExecutableFile
  ? 'tollgate'
  : /[\\/]node_modules[\\/]tollgate[\\/]/.test(import.meta.path)
    ? 'npx tollgate'
    : 'npm run tollgate'

/** The arguments that make `process.execPath` start this program again. */
export const ownProgram: readonly string[] = isExecutableFile ? [] : process.argv.slice(1, 2)

/**
 * The URL of a program that is built as a separate bundle. `path` is the path of its file relative to the calling file,
 * without extension, for example './reader-worker'. `base` is the calling file's `import.meta.url`.
 */
export function programUrl(path: string, base: string): string {
  const file = isSource ? `${path}.ts` : `./${path.slice(path.lastIndexOf('/') + 1)}.js`
  return new URL(file, base).href
}
