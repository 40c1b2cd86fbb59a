/**
 * Parses the text of a JSON option as an object. Empty text counts as an empty object. The result is undefined if the
 * text is not a JSON object.
 */
export function parseJson(source: string): Readonly<Record<string, unknown>> | undefined {
  if (source.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(source)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Returns indented JSON; text that is not a JSON object is returned unchanged. */
export function prettyJson(source: string): string {
  const value = parseJson(source)
  return value === undefined ? source : JSON.stringify(value, null, 2)
}
