// Tools that the scripts in this folder offer to a model: one reads a file, one changes a file, one runs a command.
import { execSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const text = (description) => ({ type: 'string', description })

/** Each tool has a description and a JSON schema of its input. */
export const tools = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    schema: {
      type: 'object',
      properties: { path: text('Its path.') },
      required: ['path'],
      additionalProperties: false,
    },
    run: ({ path }) => readFileSync(path, 'utf8'),
  },
  {
    name: 'edit_file',
    description: 'Replaces a text in a file.',
    schema: {
      type: 'object',
      properties: { path: text('Its path.'), old_string: text('What is there.'), new_string: text('What is wanted.') },
      required: ['path', 'old_string', 'new_string'],
      additionalProperties: false,
    },
    run({ path, old_string: before, new_string: after }) {
      writeFileSync(path, readFileSync(path, 'utf8').replace(before, after))
      return 'done'
    },
  },
  {
    name: 'bash',
    description: 'Runs a command.',
    schema: {
      type: 'object',
      properties: { command: text('The command.') },
      required: ['command'],
      additionalProperties: false,
    },
    run: ({ command }) => execSync(command, { encoding: 'utf8' }),
  },
]

/** The environment variables that the script was started with. */
export const {
  TASK_URL: url,
  TASK_TOKEN: token,
  TASK_MODEL: model,
  TASK_PROMPT: prompt,
  TASK_SPEAKS: speaks,
} = process.env
