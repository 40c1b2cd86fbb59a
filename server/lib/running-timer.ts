/**
 * A wait is divided into steps. These are the length of a step, and the maximum time that counts for a step, in
 * milliseconds.
 */
const stepMs = 250
const mostOfStepMs = 500

/**
 * Calls `due` after the process has run for `ms` milliseconds. Time in which the process was stopped or busy with long
 * work does not count, because during that time the process cannot know whether other systems are silent. Returns a
 * function that ends the wait. The timer does not keep the process alive.
 */
export function runningTimer(ms: number, due: () => void): () => void {
  let leftMs = ms
  let sinceMs = performance.now()
  let timer = start()
  function start() {
    const started = setTimeout(step, Math.min(leftMs, stepMs))
    started.unref()
    return started
  }
  function step() {
    const nowMs = performance.now()
    leftMs -= Math.min(nowMs - sinceMs, mostOfStepMs)
    sinceMs = nowMs
    // A timer may fire a fraction of a millisecond early.
    if (leftMs < 1) due()
    else timer = start()
  }
  return () => clearTimeout(timer)
}

/** A signal that is aborted after the process has run for `ms` milliseconds, unless `end` is called before. */
export function runningSignal(ms: number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const end = runningTimer(ms, () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')))
  return { signal: controller.signal, end }
}
