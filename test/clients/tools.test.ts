import { describe, expect, test } from 'bun:test'
import { command, patch } from './tasks.ts'
import { forcedTool, inputFor, offeredTools, toolFor } from './tools.ts'

const schema = (properties: object, required: string[] = []) => ({ type: 'object', properties, required })
const text = { type: 'string' }

describe('the scripted model', () => {
  test('finds the tools that a request offers in every dialect', () => {
    const input_schema = schema({ file_path: text })
    const expected = [{ name: 'Read', schema: input_schema, isFree: false }]
    expect(offeredTools({ tools: [{ name: 'Read', input_schema }] })).toEqual(expected)
    expect(offeredTools({ tools: [{ type: 'function', name: 'Read', parameters: input_schema }] })).toEqual(expected)
    const nested = { name: 'Read', parameters: input_schema }
    expect(offeredTools({ tools: [{ type: 'function', function: nested }] })).toEqual(expected)
    expect(offeredTools({ tools: [{ functionDeclarations: [nested] }] })).toEqual(expected)
    const snake = { name: 'Read', parameters_json_schema: input_schema }
    expect(offeredTools({ tools: [{ function_declarations: [snake] }] })).toEqual(expected)
  })

  test('finds the tool that a request forces in every dialect, and finds none if the model is free to choose', () => {
    const tool = { name: 'Note', input_schema: {} }
    const forced = (body: object) => forcedTool({ tools: [{ name: 'Other' }, tool], ...body })?.name
    expect(forced({ tool_choice: { type: 'function', function: { name: 'Note' } } })).toBe('Note')
    expect(forced({ tool_choice: { type: 'function', name: 'Note' } })).toBe('Note')
    expect(forced({ tool_choice: { type: 'tool', name: 'Note' } })).toBe('Note')
    const config = { mode: 'ANY', allowedFunctionNames: ['Note'] }
    expect(forced({ toolConfig: { functionCallingConfig: config } })).toBe('Note')
    expect(forced({ tool_choice: 'required' })).toBeUndefined()
    expect(forced({})).toBeUndefined()
  })

  test('fills the input of a tool according to the property names in its schema', () => {
    const edit = schema({ filePath: text, oldString: text, newString: text, all: { type: 'boolean' } }, ['filePath'])
    expect(inputFor('edit', { name: 'edit', schema: edit, isFree: false }, '/n')).toEqual({
      filePath: '/n',
      oldString: 'State: draft',
      newString: 'State: final',
    })
    const list = schema({ commands: { type: 'array', items: text }, reason: text }, ['reason'])
    expect(inputFor('run', { name: 'run_commands', schema: list, isFree: false }, '/n')).toEqual({
      commands: [command],
      reason: 'a step of the task',
    })
  })

  test('writes a patch for a plain-text tool, and uses the shell if no other tool is offered', () => {
    expect(inputFor('edit', { name: 'apply_patch', schema: {}, isFree: true }, '/n')).toBe(patch)
    const shell = { name: 'exec_command', schema: schema({ cmd: text }), isFree: false }
    expect(toolFor('read', [shell])).toBe(shell)
    expect(inputFor('read', shell, '/n')).toEqual({ cmd: 'cat /n' })
  })
})
