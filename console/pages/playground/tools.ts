import { isRecord, type SchemaProblem, schemaProblem } from './schema-check.ts'

/** A function that a model may call, as the user typed it. */
export interface ToolDraft {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: string
}

/** The maximum number of functions in a request. */
export const mostTools = 16

export const exampleTool: ToolDraft = {
  name: 'get_weather',
  description: 'Get the current weather of a city',
  parameters: `{
  "type": "object",
  "properties": {
    "city": { "type": "string", "description": "Name of the city" },
    "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] }
  },
  "required": ["city"]
}`,
}

export const emptyTool: ToolDraft = {
  name: '',
  description: '',
  parameters: '{\n  "type": "object",\n  "properties": {}\n}',
}

/** How the response is formatted, as the user typed it. */
export interface FormatDraft {
  kind: 'text' | 'json_object' | 'json_schema'
  name: string
  schema: string
}

export const emptyFormat: FormatDraft = {
  kind: 'text',
  name: 'answer',
  schema: `{
  "type": "object",
  "properties": {
    "answer": { "type": "string" }
  },
  "required": ["answer"],
  "additionalProperties": false
}`,
}

/** Whether a name can be sent: letters, digits, underscores and hyphens, at most 64. */
export function isFunctionName(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name)
}

/** The problem with a text that should be the JSON Schema of an object; undefined if there is none. */
export function schemaTextProblem(source: string): SchemaProblem | undefined {
  let schema: unknown
  try {
    schema = JSON.parse(source)
  } catch (error) {
    return { at: '', what: 'json', detail: error instanceof Error ? error.message : String(error) }
  }
  const problem = schemaProblem(schema)
  if (problem) return problem
  if (!isRecord(schema) || schema['type'] !== 'object') return { at: '', what: 'object' }
  return undefined
}

/** Whether every function has a unique name and a valid schema. */
export function areToolsValid(tools: readonly ToolDraft[]): boolean {
  const names = new Set(tools.map(({ name }) => name))
  return (
    names.size === tools.length &&
    tools.every(({ name, parameters }) => isFunctionName(name) && schemaTextProblem(parameters) === undefined)
  )
}

/** Whether the format can be sent. */
export function isFormatValid({ kind, name, schema }: FormatDraft): boolean {
  return kind !== 'json_schema' || (isFunctionName(name) && schemaTextProblem(schema) === undefined)
}
