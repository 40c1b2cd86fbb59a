/** The function that Vite adds to modules. */
interface ImportMeta {
  /** Lazily loaded modules by path. The build resolves the pattern. */
  glob<T>(pattern: string | string[]): Record<string, () => Promise<T>>
}

declare module '*.css' {}

/** The version of Tollgate for which this console was built. */
declare const consoleVersion: string
