// File URLs that would make a provider, or the gateway, open files that callers must not read.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, type Rig, see, startRelayRig } from '../relay/setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear())

const refused = [
  'file:///etc/passwd',
  'FILE:///etc/passwd',
  ' file:///etc/passwd',
  'fi\nle:///etc/passwd',
  'ftp://10.0.0.1/a.png',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'jar:http://x!/y',
  'dict://127.0.0.1:11211/stat',
  'javascript:alert(1)',
  'blob:https://example.com/1',
  'ldap://10.0.0.1/',
  'smb://10.0.0.1/share',
]

const text = { type: 'text', text: 'What is this?' }
const forms: [name: string, type: number, path: string, body: (url: string) => object][] = [
  [
    'an image in chat',
    1,
    '/v1/chat/completions',
    (url) => ({ model: 'm', messages: [{ role: 'user', content: [text, { type: 'image_url', image_url: { url } }] }] }),
  ],
  [
    'an image in chat as a plain URL string',
    1,
    '/v1/chat/completions',
    (url) => ({ model: 'm', messages: [{ role: 'user', content: [text, { type: 'image_url', image_url: url }] }] }),
  ],
  [
    'a file in chat',
    1,
    '/v1/chat/completions',
    (url) => ({
      model: 'm',
      messages: [{ role: 'user', content: [text, { type: 'file', file: { file_data: url } }] }],
    }),
  ],
  [
    'audio in chat',
    1,
    '/v1/chat/completions',
    (url) => ({
      model: 'm',
      messages: [{ role: 'user', content: [text, { type: 'input_audio', input_audio: { data: url, format: 'wav' } }] }],
    }),
  ],
  [
    'a video in chat',
    17,
    '/v1/chat/completions',
    (url) => ({ model: 'm', messages: [{ role: 'user', content: [text, { type: 'video_url', video_url: { url } }] }] }),
  ],
  [
    'an image in chat for Google',
    24,
    '/v1/chat/completions',
    (url) => ({ model: 'm', messages: [{ role: 'user', content: [text, { type: 'image_url', image_url: { url } }] }] }),
  ],
  [
    'an image in Responses',
    1,
    '/v1/responses',
    (url) => ({ model: 'm', input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }),
  ],
  [
    'a file in Responses',
    1,
    '/v1/responses',
    (url) => ({ model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_url: url }] }] }),
  ],
  [
    'an image in Messages',
    14,
    '/v1/messages',
    (url) => ({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: [text, { type: 'image', source: { type: 'url', url } }] }],
    }),
  ],
  [
    'a document in Messages',
    14,
    '/v1/messages',
    (url) => ({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: [text, { type: 'document', source: { type: 'url', url } }] }],
    }),
  ],
  [
    'an image in a tool result in Messages',
    14,
    '/v1/messages',
    (url) => ({
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'image', source: { type: 'url', url } }] },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    }),
  ],
  [
    'an image to be edited',
    1,
    '/v1/images/edits',
    (url) => ({ model: 'm', prompt: 'x', images: [{ image_url: url }] }),
  ],
  [
    'a file in Gemini',
    24,
    '/v1beta/models/m:generateContent',
    (url) => ({ contents: [{ role: 'user', parts: [{ fileData: { fileUri: url, mimeType: 'text/plain' } }] }] }),
  ],
  [
    'a file in Gemini, in snake case',
    24,
    '/v1beta/models/m:generateContent',
    (url) => ({ contents: [{ role: 'user', parts: [{ file_data: { file_uri: url, mime_type: 'text/plain' } }] }] }),
  ],
]

test.each(forms)(
  '%s: no URL scheme is accepted except those of files that a provider may open',
  async (_, type, path, body) => {
    await rig.channel({ type })
    const caller = await rig.caller()
    for (const url of refused) {
      const seen = await see(rig.gateway.post(path, body(url), caller.token))
      expect({ url, status: seen.status }).toEqual({ url, status: 400 })
      expect(seen.text).toContain('cannot begin with')
    }
    expect(rig.upstream.requests).toHaveLength(0)
    await charged(rig, caller, 0)
  },
)

test('web URLs, inline data, and file names assigned by a provider are accepted', async () => {
  await rig.channel({ type: 1 })
  const caller = await rig.caller()
  const [, , path, body] = forms[0] as (typeof forms)[number]
  for (const url of [
    'https://example.com/a.png',
    'HTTP://example.com/a.png',
    `data:image/png;base64,${fake.PNG_BASE64}`,
    'gs://bucket/a.png',
    'oss://a/b',
    'file-abc123',
    'a/b.png?x=y:z',
  ])
    expect({ url, status: (await see(rig.gateway.post(path, body(url), caller.token))).status }).toEqual({
      url,
      status: 200,
    })
})
