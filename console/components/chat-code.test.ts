// Runs the code that `chatCode` generates for a request. Substitutes for curl and the OpenAI clients print the request
// instead of sending it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChatRequest, chatCode, FileOnDisk } from './chat-code.ts'

const picture = Buffer.from([137, 80, 78, 71, 0, 255])
const fileName = 'it\'s $HOME `x` "1".png'
const awkward = 'It\'s "quoted": $HOME, `date`, \\n, $(date), 換行\n\tand \\u0041 EOF\nJSON'

const schema = {
  type: 'object',
  properties: { 'a-b': { type: 'string', enum: ['x', 'y'] }, deep: { type: ['integer', 'null'] } },
  required: ['a-b'],
  additionalProperties: false,
}

/** A request with every field that the playground can send. */
const requestWith = (file: string | FileOnDisk): ChatRequest => ({
  model: 'gpt-4o',
  messages: [
    { role: 'system', content: awkward },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: file } },
        { type: 'text', text: awkward },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: awkward },
  ],
  temperature: 0.5,
  reasoning_effort: 'high',
  tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
  stream: true,
})

const sent = requestWith(`data:image/png;base64,${picture.toString('base64')}`)
const inFiles = requestWith(new FileOnDisk(fileName, 'image/png'))
/** A request without files, whose body curl gets as an argument. */
const plain = requestWith('https://example.com/a.png')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'snippets-'))
  writeFileSync(join(folder, fileName), picture)
  mkdirSync(join(folder, 'node_modules/openai'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/openai/package.json'), '{"name":"openai","type":"module","main":"index.js"}')
  writeFileSync(
    join(folder, 'node_modules/openai/index.js'),
    'export default class { chat = { completions: { create: async (r) => (console.log(JSON.stringify(r)), []) } } }',
  )
  writeFileSync(
    join(folder, 'openai.py'),
    `import json
class OpenAI:
    def __init__(self, **_):
        self.chat = self.completions = self
    def create(self, **request):
        print(json.dumps(request))
        return []
`,
  )
  writeFileSync(
    join(folder, 'curl'),
    '#!/bin/sh\nwhile [ "$1" != -d ]; do shift; done\nif [ "$2" = @- ]; then cat; else printf %s "$2"; fi\n',
  )
  chmodSync(join(folder, 'curl'), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function codeOf(id: string, request: ChatRequest): string {
  const snippet = chatCode('https://gateway.example/v1', 'sk-key', request).find((each) => each.id === id)
  if (!snippet) throw new Error(`no code for ${id}`)
  return snippet.code
}

function outputOf(command: readonly string[]): unknown {
  const path = `${folder}:${process.env['PATH'] ?? ''}`
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], {
    cwd: folder,
    env: { PATH: path, HOME: '/nowhere' },
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString())
}

const hasPython = Bun.which('python3') !== null

describe('the code for a request sends exactly the request', () => {
  test('with curl', () => {
    expect(outputOf(['sh', '-c', codeOf('curl', plain)])).toEqual(plain)
    expect(outputOf(['sh', '-c', codeOf('curl', inFiles)])).toEqual(sent)
  })

  test('with TypeScript', () => {
    writeFileSync(join(folder, 'call.ts'), codeOf('node', inFiles))
    expect(outputOf([process.execPath, 'call.ts'])).toEqual(sent)
  })

  test.skipIf(!hasPython)('with Python (skipped if there is no python3)', () => {
    writeFileSync(join(folder, 'call.py'), codeOf('python', inFiles))
    expect(outputOf(['python3', 'call.py'])).toEqual(sent)
  })

  test('a request that contains a FileOnDisk cannot be converted to JSON', () => {
    expect(() => JSON.stringify(inFiles)).toThrow('only for reading')
  })
})
