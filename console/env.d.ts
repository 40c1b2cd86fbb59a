/** What Vite adds to modules. */
interface ImportMeta {
  /** Lazily loaded modules by path; the pattern is resolved when the console is built. */
  glob<T>(pattern: string | string[]): Record<string, () => Promise<T>>
}

declare module '*.css' {}

/** Version of Tollgate that this console was built with. */
declare const consoleVersion: string
