/** The length of one step of a wait, and the most time that is counted for one step. */
const stepMs = 250
const mostOfStepMs = 500

/**
 * Calls back after the process has run for this many milliseconds. Time in which the process was stopped, or busy with
 * long work, does not count, because the process cannot tell during that time whether others are silent. Returns a
 * function that ends the wait. Does not keep the process alive.
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

/** A signal that is aborted after the process has run for this many milliseconds, unless `end` is called before. */
export function runningSignal(ms: number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const end = runningTimer(ms, () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')))
  return { signal: controller.signal, end }
}
