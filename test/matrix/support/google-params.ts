import { isObject, type JsonObject } from '../../../server/lib/json.ts'

/** Converts a recorded body of `generateContent` to the parameters from which Google's SDK writes such a body. */
export function googleParams(body: JsonObject): JsonObject {
  const { model, contents, generationConfig, tools, ...config } = camelised(body) as JsonObject
  return {
    model,
    contents,
    config: {
      ...(isObject(generationConfig) && generationConfig),
      ...config,
      ...(tools !== undefined && { tools: isObject(tools) ? [tools] : tools }),
    },
  }
}

/** The objects in these fields are defined by the caller, not by Google, so their own field names are kept. */
const ownNames = new Set(['args', 'response', 'properties', 'parametersJsonSchema', 'responseJsonSchema', 'labels'])

function camelised(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(camelised)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, inner]) => {
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    return [camel, ownNames.has(camel) ? inner : camelised(inner)]
  })
  return Object.fromEntries(entries)
}
