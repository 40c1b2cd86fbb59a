import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { Conversation } from '../neutral/conversation.ts'

/**
 * In dialects without freeform tools (tools whose input is any text), a function represents such a tool. This field of
 * the function's input contains the text.
 */
const textMember = 'input'

/** The schema of a function that represents a freeform tool. */
export const freeformSchema: JsonObject = {
  type: 'object',
  properties: { [textMember]: { type: 'string' } },
  required: [textMember],
  additionalProperties: false,
}

/**
 * The description of a function that represents a freeform tool. It contains the grammar, which a schema cannot
 * express.
 */
export function freeformDescription(description: string | undefined, format: JsonObject | undefined): string {
  const definition = format?.['definition']
  const grammar = typeof definition === 'string' ? `The input must be of this grammar:\n${definition}` : ''
  return [description, grammar].filter(Boolean).join('\n\n')
}

/** The input of a function that represents a freeform tool. */
export function wrapFreeform(text: string): JsonObject {
  return { [textMember]: text }
}

/** The text in the input of a function that represents a freeform tool. Any other input is returned unchanged. */
export function unwrapFreeform(input: string): string {
  const value = tryParse(input)
  const text = isObject(value) ? value[textMember] : undefined
  return typeof text === 'string' ? text : input
}

/** Names of the tools whose input is free text. */
export function freeformNames({ tools }: Conversation): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'freeform' ? [tool.name] : [])))
}

/** The input of a call as an object. An input that is not a JSON object is put into a field of an object. */
export function inputObject(input: string): JsonObject {
  if (isNoInput(input)) return {}
  const value = tryParse(input)
  return isObject(value) ? value : wrapFreeform(input)
}

/** True if the input is blank or `null`. Some models write this for a call without input. */
export function isNoInput(input: string): boolean {
  return input.length < 64 && /^\s*(?:null\s*)?$/.test(input)
}
