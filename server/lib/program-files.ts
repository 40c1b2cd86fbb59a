/**
 * The program runs in three forms: as TypeScript files in folders, as bundles side by side in one folder, and as an
 * executable file that holds the bundles in a file system of its own.
 */

const isSource = import.meta.path.endsWith('.ts')

/** True in an executable file. Bun mounts its contents under one of these paths, depending on the operating system. */
export const isExecutableFile = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i.test(import.meta.path)

/** What people type in front of a command. */
export const programName = isExecutableFile
  ? 'tollgate'
  : /[\\/]node_modules[\\/]tollgate[\\/]/.test(import.meta.path)
    ? 'npx tollgate'
    : 'npm run tollgate'

/** The arguments that make `process.execPath` start this program again. */
export const ownProgram: readonly string[] = isExecutableFile ? [] : process.argv.slice(1, 2)

/**
 * URL of a program that is built into a bundle of its own. `path` is its file relative to the caller's, without
 * ending, such as './reader-worker'; `base` is the caller's `import.meta.url`.
 */
export function programUrl(path: string, base: string): string {
  const file = isSource ? `${path}.ts` : `./${path.slice(path.lastIndexOf('/') + 1)}.js`
  return new URL(file, base).href
}
