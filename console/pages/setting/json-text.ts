/** The object of a JSON option; an empty text is an empty object, undefined is no JSON object. */
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

/** JSON text as people read it; what is no JSON stays as it is. */
export function prettyJson(source: string): string {
  const value = parseJson(source)
  return value === undefined ? source : JSON.stringify(value, null, 2)
}
