/** Longest time that a part of the console may take to load. */
const chunkLimitMs = 120_000

/** A part of the console could not be loaded. */
class ChunkError extends Error {}

/** Waits for a dynamic import, but no longer than the limit; every failure becomes a ChunkError. */
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

/** How often parts could not be fetched, by their file. */
const failures = new Map<string, number>()

/**
 * Imports a part of the console, again after a failure. `load` is an arrow function of one `import` and nothing else: a
 * browser may keep a module that could not be fetched as failed, so that it is then asked for under another name. What the
 * part itself imports keeps its name: where that has failed, only a page that is loaded anew helps.
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

/** True for the failure of an import, in the words of Chromium, Firefox and Safari, and for a ChunkError. */
export function isChunkFailure(error: unknown): boolean {
  return error instanceof ChunkError || /dynamically imported module|module script failed/i.test(String(error))
}

/** True when the server gives the page: to load it anew does not end at the browser's own error. */
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
