/** Bun adds this to the messages of lost connections. It is advice for whoever wrote the call to `fetch`. */
const advice = / ?For more information, pass `verbose: true` in the second argument to fetch\(\)/

/** The message of anything that was thrown, without advice of the runtime. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(advice, '')
}
