import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { after, before, command, noteText, patch } from './tasks.ts'

/** A tool that a request offers, in any dialect. */
export interface OfferedTool {
  name: string
  /** The JSON schema of its input; empty if the input is plain text. */
  schema: JsonObject
  /** True if the model writes plain text instead of JSON. */
  isFree: boolean
}

export type Step = 'read' | 'edit' | 'run'

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The tools of a request to an upstream of any of the four dialects. */
export function offeredTools(body: JsonObject): OfferedTool[] {
  return objects(body['tools']).flatMap((tool): OfferedTool[] => {
    // Google's services accept both spellings of field names.
    const declarations = objects(tool['functionDeclarations'] ?? tool['function_declarations'])
    if (declarations.length > 0) return declarations.map(toolOf)
    const nested = tool['function'] ?? tool['custom']
    return [{ ...toolOf(isObject(nested) ? nested : tool), isFree: tool['type'] === 'custom' && !tool['input_schema'] }]
  })
}

/** The tool that a request forces the model to call, if there is one. */
export function forcedTool(body: JsonObject): OfferedTool | undefined {
  const choice = isObject(body['tool_choice']) ? body['tool_choice'] : {}
  const { name } = isObject(choice['function']) ? choice['function'] : choice
  const config = isObject(body['toolConfig']) ? body['toolConfig']['functionCallingConfig'] : undefined
  const [allowed] =
    isObject(config) && Array.isArray(config['allowedFunctionNames']) ? config['allowedFunctionNames'] : []
  return offeredTools(body).find((tool) => tool.name === (name ?? allowed))
}

function toolOf(tool: JsonObject): OfferedTool {
  const ofGoogle = tool['parametersJsonSchema'] ?? tool['parameters_json_schema']
  const schema = tool['parameters'] ?? tool['input_schema'] ?? ofGoogle
  return { name: String(tool['name'] ?? ''), schema: isObject(schema) ? schema : {}, isFree: false }
}

const shell = /^(?:bash|shell|exec_command|run_shell_command|run_commands?|execute_command|run_in_terminal|exec)$/i

/** Names that programs give to their tools, best match first. */
const names: Readonly<Record<Step, readonly RegExp[]>> = {
  read: [/^read$/i, /^(?:read_?files?|view|view_file|cat|open_file)$/i, shell],
  edit: [
    /^(?:edit|replace|edit_file|search_replace|replace_in_file|str_replace(?:_\w+)?|editor)$/i,
    /^apply_patch$/i,
    /^(?:write|write_?(?:to_)?file)$/i,
    shell,
  ],
  run: [shell],
}

/** The offered tool with which the model can perform a step of the task, if there is one. */
export function toolFor(step: Step, tools: readonly OfferedTool[]): OfferedTool | undefined {
  for (const pattern of names[step]) {
    const found = tools.find(({ name }) => pattern.test(name))
    if (found) return found
  }
  return undefined
}

/**
 * The input of a tool for a step, filled according to the property names of its schema. For a plain-text tool, the
 * input is the patch or a shell command.
 */
export function inputFor(step: Step, { name, schema, isFree }: OfferedTool, note: string): JsonObject | string {
  if (isFree) return step === 'edit' ? patch : shellLine(step, note)
  const known = knownValues(step, name, note)
  return filled(schema, known)
}

function shellLine(step: Step, note: string): string {
  if (step === 'read') return `cat ${note}`
  return step === 'edit' ? `sed -i 's/${before}/${after}/' ${note}` : command
}

/** Values keyed by property name, in lower case and with letters only. */
function knownValues(step: Step, tool: string, note: string): Readonly<Record<string, unknown>> {
  const line = shellLine(step, note)
  const place = { path: note, filepath: note, file: note, absolutepath: note, targetfile: note }
  const old = { oldstring: before, oldstr: before, oldtext: before, search: before }
  const fresh = { newstring: after, newstr: after, newtext: after, replace: after }
  const change = { ...old, ...fresh }
  return {
    ...place,
    ...change,
    filetext: noteText.replace(before, after),
    content: noteText.replace(before, after),
    input: patch,
    patch,
    cmd: line,
    script: line,
    // In the editor tool of some programs, this property is the name of the operation.
    command: shell.test(tool) ? line : step === 'edit' ? 'str_replace' : 'view',
    commands: line,
    files: place,
    paths: note,
    edits: { ...change, ...place },
  }
}

/** An object that a schema allows. It contains the required properties, and those whose names are in `known`. */
export function filled(schema: JsonObject, known: Readonly<Record<string, unknown>>): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const input: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const key = name.toLowerCase().replaceAll(/[^a-z]/g, '')
    const value = known[key]
    if (value === undefined && !required.includes(name)) continue
    input[name] = valueFor(isObject(property) ? property : {}, { key, value, known })
  }
  return input
}

interface Wanted {
  key: string
  value: unknown
  known: Readonly<Record<string, unknown>>
}

function valueFor(schema: JsonObject, wanted: Wanted): unknown {
  const { key, value, known } = wanted
  const [choice] = [schema['anyOf'], schema['oneOf']].flatMap(objects)
  if (choice) return valueFor(choice, wanted)
  const type = String(Array.isArray(schema['type']) ? schema['type'][0] : schema['type']).toLowerCase()
  if (type === 'array') {
    const items = isObject(schema['items']) ? schema['items'] : {}
    // A command that is a list consists of a program and its arguments.
    if (key === 'command' && String(items['type']).toLowerCase() === 'string') return ['bash', '-lc', String(value)]
    return [valueFor(items, wanted)]
  }
  if (type === 'object') return filled(schema, known)
  if (Array.isArray(schema['enum']))
    return schema['enum'].includes(value) ? value : (schema['default'] ?? schema['enum'][0])
  if (type === 'boolean') return schema['default'] ?? false
  if (type === 'number' || type === 'integer') return schema['default'] ?? Number(schema['minimum'] ?? 1)
  return typeof value === 'string' ? value : 'a step of the task'
}
