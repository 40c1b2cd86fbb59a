import { serverAddress } from '../lib/server-address.ts'
import type { Snippet } from './code-tabs.tsx'

type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** The body of a chat call, as `POST /v1/chat/completions` accepts it. */
export type ChatRequest = { readonly model: string; readonly stream?: boolean } & { readonly [name: string]: Value }

/** The parts of the notation that differ between languages. */
interface Notation {
  name(name: string): string
  word(value: boolean | null): string
  /** Indentation of the lines of a value. */
  indent: string
}

const quoted = (text: string) => JSON.stringify(text)
const json: Notation = { name: quoted, word: String, indent: '' }
const python: Notation = {
  name: quoted,
  word: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
  indent: '    ',
}
const node: Notation = { name: (name) => name, word: String, indent: '  ' }

/** Writes a value on one line if it is short, otherwise one line per part. */
function written(value: Value, notation: Notation, indent: string, room = 72): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean' || value === null) return notation.word(value)
  const inner = `${indent}  `
  const list = Array.isArray(value)
  const parts = list
    ? (value as readonly Value[]).map((part) => written(part, notation, inner, room))
    : Object.entries(value).map(([name, part]) => `${notation.name(name)}: ${written(part, notation, inner, room)}`)
  const [open, close] = list ? '[]' : '{}'
  const line = parts.join(', ')
  if (line.length <= room && !line.includes('\n')) return `${open}${line}${close}`
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indent}${close}`
}

/** The parts of a request as arguments, one per line. */
function argumentLines(request: ChatRequest, notation: Notation, between: string): string {
  return Object.entries(request)
    .map(([name, value]) => `${notation.indent}${name}${between}${written(value, notation, notation.indent)},`)
    .join('\n')
}

/** A chat call with a key, written for curl, Python and Node. */
export function chatSnippets(key: string, request: ChatRequest): Snippet[] {
  const base = `${serverAddress()}/v1`
  const stream = request.stream === true
  const body = written(request, json, '  ').replaceAll("'", String.raw`'\''`)
  return [
    {
      id: 'curl',
      label: 'curl',
      code: `curl ${stream ? '-N ' : ''}${base}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
    },
    {
      id: 'python',
      label: 'Python',
      code: `from openai import OpenAI

client = OpenAI(base_url="${base}", api_key="${key}")
answer = client.chat.completions.create(
${argumentLines(request, python, '=')}
)
${
  stream
    ? `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
    : 'print(answer.choices[0].message.content)'
}`,
    },
    {
      id: 'node',
      label: 'Node',
      code: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' })
const answer = await client.chat.completions.create({
${argumentLines(request, node, ': ')}
})
${
  stream
    ? `for await (const chunk of answer) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
}`
    : 'console.log(answer.choices[0].message.content)'
}`,
    },
  ]
}
