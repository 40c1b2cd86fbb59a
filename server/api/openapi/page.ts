import { createHash } from 'node:crypto'
import { escapeHtml } from '../../lib/escape-html.ts'
import { fieldsTable, table, typeHtml } from './page-schema.ts'
import { pageStyle } from './page-style.ts'
import type { Content, JsonSchema, Method, OpenApi, Operation, Reference, ResponseObject } from './types.ts'

/** The page's content security policy: the page may use its own style sheet and nothing else. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const methods: readonly Method[] = ['get', 'post', 'put', 'delete']

/** The document as one HTML page that needs no script and loads nothing else. */
export function docsPage(document: OpenApi): string {
  const { info, tags, components, servers } = document
  const address = `${servers[0]?.url ?? '/'}/api/openapi.json`.replace('//', '/')
  const sections = tags.map((tag) => ({ id: idOf(tag.name), ...tag, calls: callsOf(document, tag.name) }))
  const links = [...sections, { id: 'objects', name: 'Objects' }]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} API</title>
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#calls">Skip to the calls</a>
<div class="page">
<nav aria-label="Groups of calls"><ul>${links.map(({ id, name }) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>`).join('')}</ul></nav>
<div class="body">
<header>
<h1>${escapeHtml(info.title)} API <small>${escapeHtml(info.version)}</small></h1>
${paragraphs(info.description)}
<p>In the examples <code>$GATE</code> is the address of this server, <code>$TOKEN</code> a relay token and <code>$ACCESS_TOKEN</code> an access
token. Programs read <a href="${escapeHtml(address)}">the same as an OpenAPI document</a>.</p>
</header>
<main id="calls">
${sections.map((section) => sectionHtml(document, section)).join('\n')}
<section aria-labelledby="objects"><h2 id="objects">Objects</h2>
${Object.entries(components.schemas).map(objectHtml).join('\n')}
</section>
</main>
</div>
</div>
</body>
</html>
`
}

interface Call {
  path: string
  method: Method
  operation: Operation
}

function callsOf({ paths }: OpenApi, tag: string): Call[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation?.tags.includes(tag) ? [{ path, method, operation }] : []
    }),
  )
}

function sectionHtml(
  document: OpenApi,
  { id, name, description, calls }: { id: string; name: string; description: string; calls: Call[] },
): string {
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(name)}</h2>
${paragraphs(description)}
${calls.map((call) => callHtml(document, call)).join('\n')}
</section>`
}

function callHtml({ components }: OpenApi, call: Call): string {
  const { path, method, operation } = call
  const { operationId, summary, description, requestBody, responses } = operation
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    fieldsTable(schema, `Body, ${type}`, 'needed'),
  )
  const answers = Object.entries(responses).map(([status, response]) =>
    answerRow(status, resolve(response, components.responses)),
  )
  return `<details id="${operationId}"><summary><h3><span class="method">${method.toUpperCase()}</span><code>${escapeHtml(path)}</code><span class="what">${inline(summary)}</span></h3></summary>
<div class="inside">
${description === undefined ? '' : `<p>${inline(description)}</p>`}
<p>${whoMay(operation)}</p>
${parametersTable(operation)}
${bodies.join('\n')}
<h4>Example</h4>
<pre tabindex="0" aria-label="Example of ${escapeHtml(operationId)}"><code>${escapeHtml(curlOf(call))}</code></pre>
${table('Answers', ['Status', 'Meaning', 'Body'], answers)}
${successTable(responses['200'], components.responses)}
</div>
</details>`
}

function whoMay({ security }: Operation): string {
  const scheme = security[0]
  if (!scheme) return 'Anyone can call it.'
  if ('relayToken' in scheme) return 'Anyone with a relay token can call it.'
  const role = Object.values(scheme)[0]?.[0]
  if (role === 'user') return 'Anyone who is logged in can call it.'
  return role === 'admin' ? 'Only admins and root can call it.' : 'Only root can call it.'
}

function parametersTable({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: location, required, description = '', schema }) => {
    const { default: value, ...type } = schema
    const need = required
      ? 'needed'
      : value === undefined
        ? 'optional'
        : `optional, ${escapeHtml(JSON.stringify(value))}`
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${location}</td><td>${typeHtml(type)}</td><td>${need}</td><td>${inline(description)}</td></tr>`
  })
  return table('Parameters', ['Name', 'Place', 'Value', 'Needed', 'Meaning'], rows)
}

function answerRow(status: string, { description, content = {} }: ResponseObject): string {
  const bodies = Object.entries(content).map(([type, { schema }]) => `${escapeHtml(type)}: ${typeHtml(schema)}`)
  const name = status === 'default' ? 'any other' : status
  return `<tr><th scope="row">${name}</th><td>${inline(description)}</td><td>${bodies.join('<br>')}</td></tr>`
}

/** The fields of a successful response. The fields of a failure are the same for every call. */
function successTable(
  response: ResponseObject | Reference | undefined,
  shared: Record<string, ResponseObject>,
): string {
  if (!response) return ''
  const content: Content = resolve(response, shared).content ?? {}
  const schema = content['application/json']?.schema
  return schema ? fieldsTable(schema.oneOf?.[0] ?? schema, 'Fields of a successful response') : ''
}

function resolve(response: ResponseObject | Reference, shared: Record<string, ResponseObject>): ResponseObject {
  if (!('$ref' in response)) return response
  const target = shared[response.$ref.split('/').at(-1) ?? '']
  if (!target) throw new Error(`the document has no ${response.$ref}`)
  return target
}

function objectHtml([name, schema]: [string, JsonSchema]): string {
  const id = `object-${escapeHtml(name)}`
  return `<h3 id="${id}">${escapeHtml(name)}</h3>${fieldsTable(schema, `Fields of ${name}`)}`
}

/** A curl command that works once the two variables are set. */
function curlOf({ path, method, operation }: Call): string {
  const scheme = operation.security[0]
  const token = scheme && ('relayToken' in scheme ? '$TOKEN' : '$ACCESS_TOKEN')
  const needed = (operation.parameters ?? []).filter((each) => each.in === 'query' && each.required)
  const query = needed.map(({ name }) => `${name}=…`).join('&')
  const parts = [`curl "$GATE${path}${query === '' ? '' : `?${query}`}"`]
  if (method !== 'get' && !(method === 'post' && operation.requestBody)) parts.push(`-X ${method.toUpperCase()}`)
  if (token) parts.push(`-H "Authorization: Bearer ${token}"`)
  const content = operation.requestBody?.content ?? {}
  const example = content['application/json']?.example
  if (example !== undefined) {
    parts.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(example)}'`)
  } else if (content['multipart/form-data']) {
    const file = 'image' in (content['multipart/form-data'].schema.properties ?? {}) ? 'image' : 'file'
    parts.push(`-F ${file}=@${file === 'image' ? 'picture.png' : 'speech.mp3'}`)
  }
  return parts.join(' \\\n  ')
}

function idOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '-')
}

function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((part) => `<p>${inline(part)}</p>`)
    .join('\n')
}

/** Converts the small subset of Markdown that descriptions use to HTML: code and bold. */
function inline(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
}
