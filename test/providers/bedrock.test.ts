import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { bedrock } from '../../server/providers/bedrock/index.ts'
import { awsFrame, converseFrame } from '../helpers/aws-frames.ts'
import { readChunks, type Seen, startWired, type Wired } from './service.ts'
import { toldToAdmin } from './told-to-admin.ts'

setDefaultTimeout(120_000)

let wired: Wired
beforeAll(async () => {
  wired = await startWired()
})
afterAll(() => wired[Symbol.asyncDispose]())

const key = 'AKID|secret|us-west-2'
const answer = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
}
const frames = (...all: Uint8Array[]) =>
  new Response(Buffer.concat(all), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
const converseStream = () =>
  frames(
    converseFrame('messageStart', { role: 'assistant' }),
    converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }),
    converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
    converseFrame('messageStop', { stopReason: 'end_turn' }),
    converseFrame('metadata', { usage: answer.usage }),
  )

/** The signature that a request must have, recomputed from what was received. */
function signatureOf({ path, headers, text }: Seen, secret: string): string {
  const sha = (data: string) => createHash('sha256').update(data).digest('hex')
  const hmac = (with_: string | Buffer, data: string) => createHmac('sha256', with_).update(data).digest()
  const date = headers.get('x-amz-date') ?? ''
  const scope = [date.slice(0, 8), 'us-west-2', 'bedrock', 'aws4_request']
  // The path in the request was encoded once, and the signature covers the path encoded twice.
  const twice = path.replaceAll('%', '%25')
  const canonical = [
    'POST',
    twice,
    '',
    `host:${headers.get('host')}`,
    `x-amz-date:${date}`,
    '',
    'host;x-amz-date',
    sha(text),
  ]
  const signing = scope.reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(signing, ['AWS4-HMAC-SHA256', date, scope.join('/'), sha(canonical.join('\n'))].join('\n')).toString(
    'hex',
  )
}

describe('Bedrock', () => {
  test('is called with a signature over the bytes that are sent', async () => {
    await wired.channel(33, 'amazon.nova-lite-v1:0', { key })
    wired.service.answer = () => Response.json(answer)
    const whole = (await (await wired.chat({ messages: [{ role: 'user', content: 'Grüße 😀' }] })).json()) as {
      choices: { message: { content: string } }[]
      usage: object
    }
    expect(whole.choices[0]?.message.content).toBe('Hello')
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 })
    const [seen] = wired.service.seen
    expect(seen?.path).toBe('/model/amazon.nova-lite-v1%3A0/converse')
    const authorization = seen?.headers.get('authorization') ?? ''
    expect(authorization).toStartWith('AWS4-HMAC-SHA256 Credential=AKID/')
    expect(seen && authorization.endsWith(`Signature=${signatureOf(seen, 'secret')}`)).toBe(true)
  })

  test('sends AWS’s frames as a stream of chunks to a caller of OpenAI’s chat', async () => {
    await wired.channel(33, 'amazon.nova-lite-v1:0', { key })
    wired.service.answer = converseStream
    const read = readChunks(await (await wired.chat({ stream: true, stream_options: { include_usage: true } })).text())
    expect(read).toMatchObject({ content: 'Hello', finish: 'stop', done: true, usage: { total_tokens: 5 } })
    expect(wired.service.seen[0]?.path).toEndWith('/converse-stream')
  })

  test('calls Claude in Anthropic’s format for callers of the Messages API', async () => {
    await wired.channel(33, 'claude-3-haiku-20240307', { key })
    const events = [
      {
        type: 'message_start',
        message: {
          id: 'msg',
          type: 'message',
          role: 'assistant',
          content: [],
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    const chunk = (event: object) =>
      awsFrame(
        { ':event-type': 'chunk', ':message-type': 'event' },
        JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' }),
      )
    wired.service.answer = () => frames(...events.map(chunk))
    const body = { model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const text = await (await wired.post('/v1/messages', body)).text()
    expect(text).toContain('"text":"Hello"')
    expect(text).toContain('message_stop')
    const [seen] = wired.service.seen
    expect(seen?.path).toBe('/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke-with-response-stream')
    expect(seen?.json).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    })
  })

  test('beta features in a caller’s header are moved to the body if Bedrock accepts them', async () => {
    const message = { id: 'msg', type: 'message', role: 'assistant', content: [], usage: answer.usage }
    const ask = async (model: string) => {
      await wired.channel(33, model, { key })
      wired.service.answer = () => Response.json(message)
      const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
      const headers = {
        'anthropic-beta': 'claude-code-20250219, context-1m-2025-08-07,interleaved-thinking-2025-05-14',
      }
      const { status, headers: told } = await wired.rig.gateway.post('/v1/messages', body, undefined, { headers })
      return {
        status,
        dropped: told.get('x-tollgate-dropped'),
        betas: wired.service.seen.at(-1)?.json['anthropic_beta'],
      }
    }
    expect(await ask('claude-sonnet-4-5')).toEqual({
      status: 200,
      dropped: 'anthropic-beta.claude-code-20250219',
      betas: ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'],
    })
    expect(await ask('us.anthropic.claude-opus-4-7')).toEqual({
      status: 200,
      dropped: 'anthropic-beta.claude-code-20250219, anthropic-beta.context-1m-2025-08-07',
      betas: ['interleaved-thinking-2025-05-14'],
    })
  })

  test('an exception in a stream is reported as an error in the caller’s dialect', async () => {
    await wired.channel(33, 'amazon.nova-lite-v1:0', { key })
    wired.service.answer = () =>
      frames(
        converseFrame('messageStart', { role: 'assistant' }),
        converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } }),
        awsFrame(
          { ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' },
          '{"message":"it broke"}',
        ),
      )
    const text = await (await wired.chat({ stream: true })).text()
    expect(text).toContain('it broke')
    expect(text).not.toContain('[DONE]')
  })

  test('if Bedrock rejects a signature because the gateway’s clock is wrong, admins see this reason', async () => {
    await wired.channel(33, 'amazon.nova-lite-v1:0', { key })
    const message = 'Signature expired: 20260101T000000Z is now earlier than 20260101T000500Z'
    wired.service.answer = () => Response.json({ message }, { status: 403 })
    expect((await wired.chat()).status).toBe(503)
    expect(await toldToAdmin(wired.rig.gateway, 'm')).toContain('the clock of this gateway may be wrong')
  })

  test('creates embeddings and ranks documents', async () => {
    await wired.channel(33, 'amazon.titan-embed-text-v2:0', { key })
    wired.service.answer = () => Response.json({ embedding: [1, 2], inputTextTokenCount: 4 })
    const embedded = await (await wired.post('/v1/embeddings', { model: 'm', input: 'a' })).json()
    expect(embedded).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 4 } })
    expect(wired.service.seen[0]).toMatchObject({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      json: { inputText: 'a' },
    })
    await wired.channel(33, 'cohere.rerank-v3-5:0', { key })
    wired.service.answer = () => Response.json({ results: [{ index: 1, relevance_score: 0.9 }] })
    const body = { model: 'm', query: 'q', documents: ['a', { text: 'b' }], top_n: 1, return_documents: true }
    const ranked = await (await wired.post('/v1/rerank', body)).json()
    expect(ranked).toMatchObject({ results: [{ index: 1, relevance_score: 0.9, document: { text: 'b' } }] })
    expect(wired.service.seen[0]?.json).toEqual({ query: 'q', documents: ['a', 'b'], top_n: 1, api_version: 2 })
  })

  test('lists models and inference profiles of other vendors, with signed requests', async () => {
    wired.service.answer = ({ path }) =>
      path.startsWith('/foundation-models')
        ? Response.json({ modelSummaries: [{ modelId: 'amazon.nova-lite-v1:0' }] })
        : Response.json({ inferenceProfileSummaries: [{ inferenceProfileId: 'us.anthropic.claude-x' }] })
    expect(await wired.models(33, { key })).toEqual(['amazon.nova-lite-v1:0', 'us.anthropic.claude-x'])
    expect(wired.service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /foundation-models?byInferenceType=ON_DEMAND',
      'GET /inference-profiles?maxResults=1000',
    ])
    expect(wired.service.seen[0]?.headers.get('authorization')).toStartWith('AWS4-HMAC-SHA256 Credential=AKID/')
  })

  test('a Bedrock API key is sent unchanged', async () => {
    await wired.channel(33, 'amazon.nova-lite-v1:0', { key: 'ABSKtoken|us-west-2' })
    wired.service.answer = () => Response.json(answer)
    await wired.chat()
    expect(wired.service.seen[0]?.headers.get('authorization')).toBe('Bearer ABSKtoken')
  })
})

test('a malformed key gets an error that describes the right format', () => {
  for (const right of [key, 'A|S|eu-central-1|session', 'ABSK|us-gov-west-1'])
    expect(bedrock.keyFault?.(right)).toBeUndefined()
  for (const wrong of ['', 'AKID', 'AKID|secret', 'AKID|secret|', 'A|S|somewhere', 'A|S|us-east-1|t|x'])
    expect(bedrock.keyFault?.(wrong)).toContain('AccessKey|SecretKey|region')
})

test('common model names are mapped to the model ids of the channel’s region', async () => {
  const signing = { body: '', nowMs: 0, tokens: { get: async () => '' }, fetchJson: async () => ({}) }
  const urlOf = async (model: string, region: string) => {
    const upstream = { baseUrl: bedrock.meta.defaultBaseUrl, key: '', other: '', config: { ak: 'A', sk: 'S', region } }
    const call = { mode: 'chat', path: '', model, stream: false } as const
    return (await bedrock.chat(upstream, model)[0]?.target(upstream, call, signing))?.url
  }
  expect(await urlOf('claude-3-5-sonnet-latest', 'us-east-1')).toBe(
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse',
  )
  expect(await urlOf('claude-sonnet-4-5', 'eu-west-1')).toContain(
    '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/',
  )
  expect(await urlOf('claude-sonnet-4-5', 'ap-south-1')).toContain('/model/global.anthropic.claude-sonnet-4-5')
  expect(await urlOf('us.my.profile', 'us-east-1')).toContain('/model/us.my.profile/')
})
