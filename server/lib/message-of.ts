/** Bun adds this text to the messages of lost connections. It is advice for the developer who called `fetch`. */
const advice = / ?For more information, pass `verbose: true` in the second argument to fetch\(\)/

/** The message of any thrown value, without Bun's advice. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(advice, '')
}
