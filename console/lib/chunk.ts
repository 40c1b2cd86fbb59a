/** The longest time that a chunk of the console may take to load. */
const chunkLimitMs = 120_000

/** A chunk of the console could not be loaded. */
class ChunkError extends Error {}

/** Waits for a dynamic import, but no longer than the limit. Every failure becomes a ChunkError. */
export async function loadChunk<T>(load: () => Promise<T>, limitMs: number = chunkLimitMs): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new ChunkError(`not loaded within ${limitMs / 1000} s`)), limitMs)
  })
  try {
    return await Promise.race([load(), late])
  } catch (error) {
    if (error instanceof ChunkError) throw error
    throw new ChunkError(error instanceof Error ? error.message : String(error), { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** The number of failed attempts to fetch a chunk, by file. */
const failures = new Map<string, number>()

/**
 * Imports a chunk of the console. After a failure, the next import of the chunk retries it. `load` must be an arrow
 * function that contains only a single `import`. Because a browser may remember that a module could not be fetched, the
 * retry uses a different URL. Modules that the chunk itself imports keep their URLs. If one of them has failed, only
 * reloading the page helps.
 */
export async function importPart<T>(load: () => Promise<T>): Promise<T> {
  const file = /import\(["'`]([^"'`?]+)["'`]\)/.exec(String(load))?.[1] ?? ''
  const failed = failures.get(file)
  try {
    return await (failed ? import(/* @vite-ignore */ `${file}?again=${failed}`) : load())
  } catch (error) {
    if (file) failures.set(file, (failed ?? 0) + 1)
    throw error
  }
}

/** True for a ChunkError and for a failed import, recognised by the error messages of Chromium, Firefox and Safari. */
export function isChunkFailure(error: unknown): boolean {
  return error instanceof ChunkError || /dynamically imported module|module script failed/i.test(String(error))
}

/** True if the server can deliver the page, so that reloading it will not show the browser's own error page. */
export async function isReachable(): Promise<boolean> {
  try {
    return (
      await fetch(location.href, {
        headers: { accept: 'text/html' },
        cache: 'no-cache',
        signal: AbortSignal.timeout(10_000),
      })
    ).ok
  } catch {
    return false
  }
}
