import type { Snippet } from '../../components/snippet.ts'
import { type Call, isRelay } from './document.ts'

/** The placeholder for a token until the reader chooses one. */
export const tokenPlaceholder = '$TOKEN'
const accessTokenPlaceholder = '$ACCESS_TOKEN'

interface Request {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  json?: unknown
  form?: Readonly<Record<string, unknown>>
  /** The names of the form's fields that are files. */
  files: readonly string[]
}

const fileFields = ['file', 'image', 'mask']

/**
 * The request in the sample: the document's own example, with values for the path parameters and the required query
 * parameters.
 */
function requestOf({ method, path, operation }: Call, address: string, token: string): Request {
  const { parameters = [], requestBody } = operation
  const query = parameters
    .filter((each) => each.in === 'query' && each.required)
    .map(({ name }) => `${name}=${name === 'model' ? 'gpt-realtime' : '1'}`)
    .join('&')
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'model' ? modelFor(path) : '1'))
  const scheme = operation.security[0]
  const secret = scheme && ('relayToken' in scheme ? token : accessTokenPlaceholder)
  const json = requestBody?.content['application/json']?.example
  const form = requestBody?.content['multipart/form-data']?.example as Record<string, unknown> | undefined
  return {
    method,
    url: `${address}${filled}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...(secret && authorization(path, secret)),
      ...(path.startsWith('/v1/messages') && { 'anthropic-version': '2023-06-01' }),
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(json === undefined ? form && { form } : { json }),
    files: Object.keys(form ?? {}).filter((name) => fileFields.includes(name)),
  }
}

/** The header with the token, as the clients of the provider whose API has this path send it. */
function authorization(path: string, secret: string): Record<string, string> {
  if (path.startsWith('/v1beta/')) return { 'x-goog-api-key': secret }
  if (path.startsWith('/v1/messages')) return { 'x-api-key': secret }
  return { Authorization: `Bearer ${secret}` }
}

function modelFor(path: string): string {
  if (path.startsWith('/v1beta/')) return /embed/i.test(path) ? 'gemini-embedding-001' : 'gemini-2.5-flash'
  return path.includes('/engines/') ? 'text-embedding-3-small' : 'gpt-4o-mini'
}

const singleQuoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

function curl({ method, url, headers, json, form, files }: Request): string {
  const parts = [`curl ${/[?&]/.test(url) ? `"${url}"` : url}`]
  if (method !== 'GET' && !(method === 'POST' && (json !== undefined || form))) parts.push(`-X ${method}`)
  for (const [name, value] of Object.entries(headers)) parts.push(`-H "${name}: ${value}"`)
  if (json !== undefined) parts.push(`-d ${singleQuoted(JSON.stringify(json, null, 2))}`)
  for (const [name, value] of Object.entries(form ?? {}))
    parts.push(`-F ${singleQuoted(`${name}=${files.includes(name) ? '@' : ''}${value}`)}`)
  return parts.join(' \\\n  ')
}

/** A JSON value as a Python literal. */
function pythonLiteral(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const parts = Array.isArray(value)
    ? value.map((each) => pythonLiteral(each, inner))
    : Object.entries(value as object).map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (parts.length === 0) return `${open}${close}`
  return `${open}\n${parts.map((part) => `${inner}${part},`).join('\n')}\n${indent}${close}`
}

function python({ method, url, headers, json, form, files }: Request, isJson: boolean): string {
  const fields = Object.entries(form ?? {}).filter(([name]) => !files.includes(name))
  const lines = [
    JSON.stringify(url),
    ...(Object.keys(headers).length > 0 ? [`headers=${pythonLiteral(headers, '    ')}`] : []),
    ...(json === undefined ? [] : [`json=${pythonLiteral(json, '    ')}`]),
    ...(fields.length > 0 ? [`data=${pythonLiteral(Object.fromEntries(fields), '    ')}`] : []),
    ...(files.length > 0
      ? [`files={${files.map((name) => `"${name}": open(${JSON.stringify(form?.[name])}, "rb")`).join(', ')}}`]
      : []),
  ]
  return `import requests

response = requests.${method.toLowerCase()}(
${lines.map((line) => `    ${line},`).join('\n')}
)
response.raise_for_status()
print(response.${isJson ? 'json()' : 'content'})`
}

function typescript({ method, url, headers, json, form, files }: Request, isJson: boolean): string {
  const parts = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(Object.keys(headers).length > 0
      ? [
          `  headers: {\n${Object.entries(headers)
            .map(([name, value]) => `    '${name}': '${value}',`)
            .join('\n')}\n  },`,
        ]
      : []),
    ...(json === undefined
      ? []
      : [`  body: JSON.stringify(${JSON.stringify(json, null, 2).replaceAll('\n', '\n  ')}),`]),
    ...(form ? ['  body: form,'] : []),
  ]
  const before = form
    ? `${files.length > 0 ? "import { openAsBlob } from 'node:fs'\n\n" : ''}const form = new FormData()\n${Object.entries(
        form,
      )
        .map(([name, value]) =>
          files.includes(name)
            ? `form.set('${name}', await openAsBlob('${value}'), '${value}')`
            : `form.set('${name}', '${value}')`,
        )
        .join('\n')}\n\n`
    : ''
  const options = parts.length > 0 ? `, {\n${parts.join('\n')}\n}` : ''
  return `${before}const response = await fetch('${url}'${options})
if (!response.ok) throw new Error(await response.text())
console.log(await response.${isJson ? 'json()' : 'bytes()'})`
}

/** Samples for a session over a WebSocket, which a plain HTTP client cannot open. */
function sessionSamples(address: string, token: string): Snippet[] {
  const url = `${address.replace(/^http/, 'ws')}/v1/realtime?model=gpt-realtime`
  return [
    {
      id: 'curl',
      label: 'curl',
      code: `# curl cannot send events; websocat can.\nwebsocat -H "Authorization: Bearer ${token}" "${url}"`,
    },
    {
      id: 'python',
      label: 'Python',
      code: `import json
from websockets.sync.client import connect

with connect("${url}", additional_headers={"Authorization": "Bearer ${token}"}) as session:
    session.send(json.dumps({"type": "response.create"}))
    for message in session:
        print(json.loads(message)["type"])`,
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      code: `const session = new WebSocket('${url}', [
  'realtime',
  'openai-insecure-api-key.${token}',
])
session.onopen = () => session.send(JSON.stringify({ type: 'response.create' }))
session.onmessage = ({ data }) => console.log(JSON.parse(data).type)`,
    },
  ]
}

/** The call in curl, Python and TypeScript, with the address of this installation and the token. */
export function samplesOf(call: Call, address: string, token: string): Snippet[] {
  if (isRelay(call) && call.path === '/v1/realtime') return sessionSamples(address, token)
  const request = requestOf(call, address, token)
  const done = call.operation.responses['200']
  const types = done && 'content' in done ? Object.keys(done.content ?? {}) : []
  const isJson = types.length === 0 || types.includes('application/json')
  return [
    { id: 'curl', label: 'curl', code: curl(request) },
    { id: 'python', label: 'Python', code: python(request, isJson) },
    { id: 'typescript', label: 'TypeScript', code: typescript(request, isJson) },
  ]
}
