import { MESSAGES_MODEL } from '../targets.ts'

/** One kind of request body, and the path that it is sent to. */
export interface Shape {
  readonly title: string
  readonly path: string
  /** Sent to a channel whose API format differs from the client's, so that the gateway must translate the body. */
  readonly translated?: true
  /** A body of about this many bytes. */
  body(bytes: number): string
}

const model = 'gpt-4o-mini'

const said = [{ role: 'user', content: 'Hi' }]
const chat = '/v1/chat/completions'

/** A JSON list of items, about this many bytes long. */
function list(bytes: number, item: (index: number) => string): string {
  const items: string[] = []
  for (let index = 0, length = 0; length < bytes; index++) {
    const next = item(index)
    items.push(next)
    length += next.length + 1
  }
  return `[${items.join(',')}]`
}

/** The body with one additional field, whose value is JSON. */
function withMember(body: object, name: string, json: string): string {
  return `${JSON.stringify(body).slice(0, -1)},"${name}":${json}}`
}

const chatBody = { model, messages: said }
const unknown = (json: (bytes: number) => string) => (bytes: number) => withMember(chatBody, 'x', json(bytes))
const same = (item: string) => unknown((bytes) => list(bytes, () => item))
const page = 'word '.repeat(200)

/** A chat request with the given `tools`, whose messages are long texts that consist only of escape sequences. */
function escapesAnd(tools: string): (bytes: number) => string {
  return (bytes) => {
    const texts = list(bytes, () => `{"role":"user","content":"${'\\u00e9'.repeat(2_000)}"}`)
    return `{"model":"${model}","tools":${tools},"messages":${texts}}`
  }
}

function readTwice(bytes: number): string {
  const tools = list(bytes / 5, (index) => `{"type":"function","function":{"name":"f${index}","parameters":{}}}`)
  return `{"x":{"text":"${'x'.repeat(2_000)}"},${escapesAnd(tools)((bytes * 4) / 5).slice(1)}`
}

const refusedOrPassedOn: readonly Shape[] = [
  { title: 'zeros in an unknown field', path: chat, body: same('0') },
  { title: 'empty lists in an unknown field', path: chat, body: same('[]') },
  { title: 'empty strings in an unknown field', path: chat, body: same('""') },
  { title: 'objects of one member in an unknown field', path: chat, body: same('{"a":0}') },
  { title: '100 lists within each other, many times', path: chat, body: same('['.repeat(100) + ']'.repeat(100)) },
  {
    title: 'lists within each other',
    path: chat,
    body: unknown((bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
  },
  {
    title: 'an object of many names',
    path: chat,
    body: unknown((bytes) =>
      list(bytes, (index) => `"k${index}":0`)
        .replace('[', '{')
        .replace(/\]$/, '}'),
    ),
  },
  {
    title: 'objects with a name of their own each',
    path: chat,
    body: unknown((bytes) => list(bytes, (index) => `{"k${index}":0}`)),
  },
  { title: 'one long string', path: chat, body: unknown((bytes) => `"${'x'.repeat(bytes)}"`) },
  { title: 'one string of escapes', path: chat, body: unknown((bytes) => `"${'\\"'.repeat(bytes / 2)}"`) },
  { title: 'long texts of escapes', path: chat, body: escapesAnd('[]') },
  // The long text outside the prompt makes the gateway parse the whole body after it has already scanned it.
  { title: 'long texts of escapes and tools, read twice', path: chat, body: (bytes) => readTwice(bytes) },
  {
    title: 'messages of one letter',
    path: chat,
    body: (bytes) =>
      withMember(
        { model },
        'messages',
        list(bytes, () => '{"role":"user","content":"x"}'),
      ),
  },
  {
    title: 'messages of a page',
    path: chat,
    body: (bytes) =>
      withMember(
        { model },
        'messages',
        list(bytes, () => `{"role":"user","content":"${page}"}`),
      ),
  },
  {
    title: 'parts of one letter',
    path: chat,
    body: (bytes) => {
      const parts = list(bytes, () => '{"type":"text","text":"x"}')
      return withMember({ model }, 'messages', `[{"role":"user","content":${parts}}]`)
    },
  },
  {
    title: 'tools',
    path: chat,
    body: (bytes) =>
      withMember(
        chatBody,
        'tools',
        list(bytes, (index) => `{"type":"function","function":{"name":"f${index}","parameters":{}}}`),
      ),
  },
  {
    title: 'inputs of an embedding',
    path: '/v1/embeddings',
    body: (bytes) =>
      withMember(
        { model },
        'input',
        list(bytes, () => '"a text"'),
      ),
  },
  {
    title: 'token numbers of an embedding',
    path: '/v1/embeddings',
    body: (bytes) =>
      withMember(
        { model },
        'input',
        list(bytes, () => '12345'),
      ),
  },
  {
    title: 'documents of a rerank',
    path: '/v1/rerank',
    body: (bytes) =>
      withMember(
        { model, query: 'q' },
        'documents',
        list(bytes, () => '{"text":"a text"}'),
      ),
  },
  {
    title: 'Messages of one letter',
    path: '/v1/messages',
    body: (bytes) =>
      withMember(
        { model: MESSAGES_MODEL, max_tokens: 9 },
        'messages',
        list(bytes, () => '{"role":"user","content":"x"}'),
      ),
  },
  {
    title: 'Messages of a page',
    path: '/v1/messages',
    body: (bytes) =>
      withMember(
        { model: MESSAGES_MODEL, max_tokens: 9 },
        'messages',
        list(bytes, () => `{"role":"user","content":"${page}"}`),
      ),
  },
  {
    title: 'input items of Responses',
    path: '/v1/responses',
    body: (bytes) =>
      withMember(
        { model },
        'input',
        list(bytes, () => '{"role":"user","content":"x"}'),
      ),
  },
]

const translated: readonly Shape[] = [
  {
    title: 'messages of one letter, translated to Messages',
    path: chat,
    translated: true,
    body: (bytes) =>
      withMember(
        { model: MESSAGES_MODEL },
        'messages',
        list(bytes, () => '{"role":"user","content":"x"}'),
      ),
  },
  {
    title: 'messages of a page, translated to Messages',
    path: chat,
    translated: true,
    body: (bytes) =>
      withMember(
        { model: MESSAGES_MODEL },
        'messages',
        list(bytes, () => `{"role":"user","content":"${page}"}`),
      ),
  },
  {
    title: 'calls and results, translated to Messages',
    path: chat,
    translated: true,
    body: (bytes) =>
      withMember(
        { model: MESSAGES_MODEL },
        'messages',
        list(bytes, (index) =>
          index % 2 === 0
            ? `{"role":"assistant","tool_calls":[{"id":"c${index}","type":"function","function":{"name":"read","arguments":"{}"}}]}`
            : `{"role":"tool","tool_call_id":"c${index - 1}","content":"ok"}`,
        ),
      ),
  },
  {
    title: 'tools with schemas, translated to Messages',
    path: chat,
    translated: true,
    body: (bytes) =>
      withMember(
        { model: MESSAGES_MODEL, messages: said },
        'tools',
        list(
          bytes,
          (index) =>
            `{"type":"function","function":{"name":"f${index}","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Where it is"},"lines":{"type":"number"}},"required":["path"]}}}`,
        ),
      ),
  },
  {
    title: 'Messages of one letter, translated to chat',
    path: '/v1/messages',
    translated: true,
    body: (bytes) =>
      withMember(
        { model, max_tokens: 9 },
        'messages',
        list(bytes, () => '{"role":"user","content":"x"}'),
      ),
  },
  {
    title: 'contents of one letter, translated to chat',
    path: `/v1beta/models/${model}:generateContent`,
    translated: true,
    body: (bytes) =>
      withMember(
        {},
        'contents',
        list(bytes, () => '{"role":"user","parts":[{"text":"x"}]}'),
      ).replace('{,', '{'),
  },
]

/** All shapes. The ones that the gateway refuses or only forwards come first. */
export const shapes: readonly Shape[] = [...refusedOrPassedOn, ...translated]
