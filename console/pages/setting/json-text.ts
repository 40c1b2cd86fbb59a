/** The object of a JSON option; an empty text is an empty object, undefined means not a JSON object. */
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

/** Indented JSON; text that is not JSON is returned as it is. */
export function prettyJson(source: string): string {
  const value = parseJson(source)
  return value === undefined ? source : JSON.stringify(value, null, 2)
}
