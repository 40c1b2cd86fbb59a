import type { Snippet } from './snippet.ts'

/**
 * A file that the code reads as a data URL when it runs. If the code contained the content, it would be unreadable, and
 * the content would not fit into a command-line argument.
 */
export class FileOnDisk {
  readonly fileName: string
  readonly mediaType: string

  constructor(fileName: string, mediaType: string) {
    this.fileName = fileName
    this.mediaType = mediaType
  }

  /** Throws, so that the reference is never sent instead of the file's content. */
  toJSON(): never {
    throw new Error('a reference to a file is only for reading')
  }
}

/** A JSON value in which a text may be replaced by a file. */
export type Value =
  | string
  | number
  | boolean
  | null
  | FileOnDisk
  | readonly Value[]
  | { readonly [name: string]: Value }

/** The body of a chat call, as `POST /v1/chat/completions` accepts it. */
export type ChatRequest = { readonly model: string; readonly stream?: boolean } & { readonly [name: string]: Value }

/** How a programming language writes values, where languages differ. */
interface Notation {
  name(name: string): string
  word(value: boolean | null): string
  file(file: FileOnDisk): string
  /** Indentation of the lines of a value. */
  indent: string
}

const quoted = (text: string) => JSON.stringify(text)
const json: Notation = { name: quoted, word: String, file: ({ fileName }) => quoted(fileName), indent: '' }
const python: Notation = {
  name: quoted,
  word: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
  file: ({ fileName, mediaType }) => `data_url(${quoted(fileName)}, ${quoted(mediaType)})`,
  indent: '    ',
}
const script: Notation = {
  name: (name) => (/^[a-z_$][\w$]*$/i.test(name) && name !== '__proto__' ? name : `[${quoted(name)}]`),
  word: String,
  file: ({ fileName, mediaType }) => `dataUrl(${quoted(fileName)}, ${quoted(mediaType)})`,
  indent: '  ',
}

/** Writes a value on one line if it is short, otherwise one line per part. */
function written(value: Value, notation: Notation, indent: string, room = 72): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean' || value === null) return notation.word(value)
  if (value instanceof FileOnDisk) return notation.file(value)
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

/** Quotes a text so that a shell passes it on unchanged. */
const shellWord = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The options of curl for the body. A body with files is a here document, into which the shell inserts them. */
function curlBody(request: ChatRequest): string {
  const files: FileOnDisk[] = []
  // JSON contains no control characters, so these marks cannot occur in a text.
  const marked = { ...json, file: (file: FileOnDisk) => `"\u0001${files.push(file) - 1}\u0001"` }
  const body = written(request, marked, '  ')
  if (files.length === 0) return `-d ${shellWord(body)}`
  const inserted = body
    .replaceAll(/[\\$`]/g, String.raw`\$&`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks from above
    .replaceAll(/\u0001(\d+)\u0001/g, (_, index: string) => {
      const { fileName = '', mediaType = '' } = files[Number(index)] ?? {}
      return `data:${mediaType};base64,$(base64 < ${shellWord(fileName)} | tr -d '\\n')`
    })
  return `-d @- <<JSON\n  ${inserted}\nJSON`
}

/** Whether a value contains a file. */
export function hasFile(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return false
  return value instanceof FileOnDisk || Object.values(value).some(hasFile)
}

function pythonCode(base: string, key: string, request: ChatRequest): string {
  const readsFiles = hasFile(request)
  const helper = `
def data_url(name, media_type):
    return f"data:{media_type};base64,{b64encode(open(name, 'rb').read()).decode()}"

`
  const printsCalls = `
        for call in chunk.choices[0].delta.tool_calls or []:
            print(call.function, flush=True)`
  const output = request.stream
    ? `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)${request['tools'] ? printsCalls : ''}`
    : `print(answer.choices[0].message${request['tools'] ? '' : '.content'})`
  return `${readsFiles ? 'from base64 import b64encode\n' : ''}from openai import OpenAI
${readsFiles ? helper : ''}
client = OpenAI(base_url="${base}", api_key="${key}")
answer = client.chat.completions.create(
${argumentLines(request, python, '=')}
)
${output}`
}

function scriptCode(base: string, key: string, request: ChatRequest): string {
  const readsFiles = hasFile(request)
  const helper = `
const dataUrl = (name: string, mediaType: string) =>
  \`data:\${mediaType};base64,\${readFileSync(name).toString('base64')}\`
`
  const printsCalls = `
  for (const call of chunk.choices[0]?.delta.tool_calls ?? []) console.log(call.function)`
  const output = request.stream
    ? `for await (const chunk of answer) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')${request['tools'] ? printsCalls : ''}
}`
    : `console.log(answer.choices[0].message${request['tools'] ? '' : '.content'})`
  return `${readsFiles ? "import { readFileSync } from 'node:fs'\n" : ''}import OpenAI from 'openai'
${readsFiles ? helper : ''}
const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' })
const answer = await client.chat.completions.create({
${argumentLines(request, script, ': ')}
})
${output}`
}

/** A chat call with a key, written for curl, Python and TypeScript. `base` is the address that ends in `/v1`. */
export function chatCode(base: string, key: string, request: ChatRequest): Snippet[] {
  return [
    {
      id: 'curl',
      label: 'curl',
      code: `curl ${request.stream === true ? '-N ' : ''}${base}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  ${curlBody(request)}`,
    },
    { id: 'python', label: 'Python', code: pythonCode(base, key, request) },
    { id: 'node', label: 'TypeScript', code: scriptCode(base, key, request) },
  ]
}
