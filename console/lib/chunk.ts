/** Longest time that a part of the console may take to load. */
const chunkLimitMs = 120_000

/** A part of the console could not be loaded. */
export class ChunkError extends Error {}

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

/** True when the server now has another build than the one this page was loaded from. */
export async function isOutdated(): Promise<boolean> {
  try {
    const page = await (await fetch(location.href, { headers: { accept: 'text/html' }, cache: 'no-cache' })).text()
    const entry = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.getAttribute('src')
    return entry !== null && entry !== undefined && !page.includes(entry)
  } catch {
    return false
  }
}
