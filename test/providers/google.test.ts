import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createVerify, generateKeyPairSync } from 'node:crypto'
import { vertex } from '../../server/providers/vertex/index.ts'
import { events, readChunks, startWired, type Wired } from './service.ts'

setDefaultTimeout(120_000)

let wired: Wired
beforeAll(async () => {
  wired = await startWired()
})
afterAll(() => wired[Symbol.asyncDispose]())

const candidate = { content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }
const answer = {
  candidates: [candidate],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
}
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

interface Completion {
  choices: { message: { content: string } }[]
  usage: object
}

describe('Gemini', () => {
  test('serves a caller of OpenAI’s chat, streamed and not', async () => {
    await wired.channel(24, 'gemini-x')
    wired.service.answer = ({ path }) => (path.includes('stream') ? events(answer) : Response.json(answer))
    const whole = (await (await wired.chat()).json()) as Completion
    expect(whole.choices[0]?.message.content).toBe('Hello')
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 })
    const read = readChunks(await (await wired.chat({ stream: true })).text())
    expect(read).toMatchObject({ content: 'Hello', finish: 'stop', done: true })
    expect(wired.service.seen.map(({ path }) => path)).toEqual([
      '/v1beta/models/gemini-x:generateContent',
      '/v1beta/models/gemini-x:streamGenerateContent?alt=sse',
    ])
    expect(wired.service.seen[0]?.headers.get('x-goog-api-key')).toBe('k')
  })

  test('receives requests in its own dialect byte for byte, at the API version that is set in the channel', async () => {
    await wired.channel(24, 'm', { other: 'v1' })
    wired.service.answer = () => Response.json({ ...answer, newField: 1 })
    const body = { contents, newOption: 1 }
    const response = await wired.post('/v1beta/models/m:generateContent', body)
    expect((await response.json()) as object).toMatchObject({ newField: 1 })
    expect(wired.service.seen[0]?.path).toBe('/v1/models/m:generateContent')
    expect(wired.service.seen[0]?.text).toBe(JSON.stringify(body))
  })

  test('creates embeddings in OpenAI’s format and in both of its encodings', async () => {
    await wired.channel(24, 'gemini-embedding-2')
    wired.service.answer = () =>
      Response.json({ embeddings: [{ values: [0.5, -1] }, { values: [2, 4] }], usageMetadata: { promptTokenCount: 7 } })
    const body = { model: 'm', input: ['a', 'b'], dimensions: 2 }
    const plain = await (await wired.post('/v1/embeddings', body)).json()
    expect(plain).toMatchObject({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -1] },
        { object: 'embedding', index: 1, embedding: [2, 4] },
      ],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    })
    expect(wired.service.seen[0]).toMatchObject({
      path: '/v1beta/models/gemini-embedding-2:batchEmbedContents',
      json: {
        requests: ['a', 'b'].map((text) => ({
          model: 'models/gemini-embedding-2',
          content: { parts: [{ text }] },
          outputDimensionality: 2,
        })),
      },
    })
    const task = { content: { parts: [{ text: 'a' }] }, taskType: 'RETRIEVAL_QUERY' }
    for (const [method, asked] of [
      ['embedContent', task],
      ['batchEmbedContents', { requests: [task] }],
    ] as const) {
      expect((await wired.post(`/v1beta/models/m:${method}`, asked)).status).toBe(200)
      expect(wired.service.seen.at(-1)).toMatchObject({ json: { requests: [task] } })
    }
    const packed = (await (await wired.post('/v1/embeddings', { ...body, encoding_format: 'base64' })).json()) as {
      data: { embedding: string }[]
    }
    const bytes = Buffer.from(packed.data[0]?.embedding ?? '', 'base64')
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([0.5, -1])
    expect((await wired.post('/v1/embeddings', { model: 'm', input: [[1, 2]] })).status).toBe(400)
  })

  test('generates images with both kinds of image models', async () => {
    wired.service.answer = ({ path }) =>
      path.endsWith(':predict')
        ? Response.json({ predictions: [{ bytesBase64Encoded: 'AAAA', mimeType: 'image/png' }] })
        : Response.json({
            candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'BBBB' } }] } }],
            usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 1290 },
          })
    const body = { model: 'm', prompt: 'A cat', size: '1024x1024' }
    await wired.channel(24, 'imagen-4.0-generate-001')
    const painted = await (await wired.post('/v1/images/generations', body)).json()
    expect(painted).toMatchObject({ data: [{ b64_json: 'AAAA' }] })
    expect(wired.service.seen[0]).toMatchObject({
      path: '/v1beta/models/imagen-4.0-generate-001:predict',
      json: { instances: [{ prompt: 'A cat' }], parameters: { sampleCount: 1, aspectRatio: '1:1' } },
    })
    await wired.channel(24, 'gemini-2.5-flash-image')
    const drawn = await (await wired.post('/v1/images/generations', body)).json()
    expect(drawn).toMatchObject({ data: [{ b64_json: 'BBBB' }], usage: { input_tokens: 4, output_tokens: 1290 } })
    wired.service.answer = () => Response.json({ candidates: [{ finishReason: 'IMAGE_SAFETY' }] })
    const refused = await wired.post('/v1/images/generations', body)
    expect(refused.ok).toBe(false)
    expect(await refused.text()).toContain('IMAGE_SAFETY')
  })

  test('generates speech', async () => {
    await wired.channel(24, 'gemini-tts')
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AQACAA==' }
    wired.service.answer = () => Response.json({ candidates: [{ content: { parts: [{ inlineData }] } }] })
    const body = { model: 'm', input: 'Hello', voice: 'alloy' }
    const spoken = await wired.post('/v1/audio/speech', body)
    expect(spoken.headers.get('content-type')).toBe('audio/wav')
    const bytes = Buffer.from(await spoken.arrayBuffer())
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(24), bytes.readUInt32LE(40), bytes.length]).toEqual([
      'RIFF',
      24_000,
      4,
      48,
    ])
    expect(wired.service.seen[0]).toMatchObject({
      path: '/v1beta/models/gemini-tts:generateContent',
      json: {
        contents: [{ parts: [{ text: 'Hello' }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        },
      },
    })
    expect((await wired.post('/v1/audio/speech', { ...body, response_format: 'mp3' })).status).toBe(400)
    wired.service.answer = () => Response.json({ candidates: [{ finishReason: 'OTHER' }] })
    expect(await (await wired.post('/v1/audio/speech', body)).text()).toContain('no audio')
  })

  test('speech is charged by the usage that the service reports, also while the request is recorded', async () => {
    const target_id = await wired.channel(24, 'gemini-tts')
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AQACAA==' }
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 40, totalTokenCount: 43 }
    wired.service.answer = () =>
      Response.json({ candidates: [{ content: { parts: [{ inlineData }] } }], usageMetadata })
    const { gateway } = wired.rig
    const charged = async () => {
      const spoken = await wired.post('/v1/audio/speech', { model: 'm', input: 'Hello' })
      expect((await spoken.arrayBuffer()).byteLength).toBe(48)
      const { quota, prompt_tokens, completion_tokens, estimated } = (await gateway.logs())[0] ?? {}
      return { quota, prompt_tokens, completion_tokens, estimated: Boolean(estimated) }
    }
    const plain = await charged()
    expect(plain).toMatchObject({ prompt_tokens: 3, completion_tokens: 40, estimated: false })
    const until = Math.floor(Date.now() / 1000) + 3600
    const { id } = await gateway.api<{ id: number }>('POST', '/api/capture/rule/', {
      target: 'channel',
      target_id,
      until,
    })
    expect(await charged()).toEqual(plain)
    await gateway.api('POST', `/api/capture/rule/${id}/end`)
  })

  test('lists its models by their short names', async () => {
    wired.service.answer = () => Response.json({ models: [{ name: 'models/gemini-x' }, { name: 'models/gemini-y' }] })
    expect(await wired.models(24)).toEqual(['gemini-x', 'gemini-y'])
    expect(wired.service.seen[0]?.path).toBe('/v1beta/models?pageSize=1000')
  })
})

describe('Vertex', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = JSON.stringify({
    type: 'service_account',
    project_id: 'from-json',
    private_key_id: 'id',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'robot@from-json.example',
    token_uri: 'https://oauth2.googleapis.com/token',
  })
  const key = `us-central1|my-project|${account}`
  let tokens = 0

  /** Responds as Google would, and issues tokens. */
  function google(rest: (path: string) => Response) {
    tokens = 0
    wired.service.answer = ({ path }) =>
      path === '/token' ? Response.json({ access_token: `token-${++tokens}`, expires_in: 3600 }) : rest(path)
  }

  test('fetches a token once, with an assertion that the service account signed', async () => {
    await wired.channel(42, 'gemini-x', { key })
    google(() => Response.json(answer))
    await Promise.all([wired.chat(), wired.chat(), wired.chat()])
    expect((await wired.chat()).status).toBe(200)
    expect(tokens).toBe(1)
    const [exchange, call] = wired.service.seen
    const form = new URLSearchParams(exchange?.text)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`)
    expect(verify.verify(publicKey, signature, 'base64url')).toBe(true)
    expect(JSON.parse(Buffer.from(head, 'base64url').toString()) as object).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: 'id',
    })
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
    expect(said).toMatchObject({ iss: 'robot@from-json.example', aud: 'https://oauth2.googleapis.com/token' })
    expect(Number(said['exp']) - Number(said['iat'])).toBe(3600)
    expect(call?.headers.get('authorization')).toBe('Bearer token-1')
    expect(call?.path).toBe(
      '/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-x:generateContent',
    )
  })

  test('streams Gemini, and calls Claude and open models at their own endpoints', async () => {
    await wired.channel(42, 'gemini-x', { key })
    google((path) => (path.includes('stream') ? events(answer) : Response.json(answer)))
    expect(readChunks(await (await wired.chat({ stream: true })).text())).toMatchObject({
      content: 'Hello',
      done: true,
    })
    expect(wired.service.seen.at(-1)?.path).toEndWith('gemini-x:streamGenerateContent?alt=sse')

    await wired.channel(42, 'claude-3-5-haiku@20241022', { key })
    const message = {
      content: [{ type: 'text', text: 'Bonjour' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    google(() => Response.json(message))
    const whole = (await (await wired.chat()).json()) as Completion
    expect(whole.choices[0]?.message.content).toBe('Bonjour')
    const claude = wired.service.seen.at(-1)
    expect(claude?.path).toEndWith('/publishers/anthropic/models/claude-3-5-haiku@20241022:rawPredict')
    expect(claude?.json['anthropic_version']).toBe('vertex-2023-10-16')
    expect(claude?.json).not.toHaveProperty('model')

    await wired.channel(42, 'meta/llama-4-maas', { key })
    google(() =>
      Response.json({
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hola' }, finish_reason: 'stop' }],
      }),
    )
    expect(((await (await wired.chat()).json()) as Completion).choices[0]?.message.content).toBe('Hola')
    expect(wired.service.seen.at(-1)?.path).toEndWith('/locations/us-central1/endpoints/openapi/chat/completions')
    expect(wired.service.seen.at(-1)?.json['model']).toBe('meta/llama-4-maas')
  })

  test('counts tokens for callers who use the model’s dialect', async () => {
    await wired.channel(42, 'gemini-x', { key })
    google(() => Response.json({ totalTokens: 11 }))
    const counted = await wired.post('/v1beta/models/m:countTokens', { contents })
    expect((await counted.json()) as object).toEqual({ totalTokens: 11 })
    expect(wired.service.seen.at(-1)?.path).toEndWith('/publishers/google/models/gemini-x:countTokens')
    await wired.channel(42, 'claude-x', { key })
    google(() => Response.json({ input_tokens: 12 }))
    const messages = [{ role: 'user', content: 'Hi' }]
    const claude = await wired.post('/v1/messages/count_tokens', { model: 'm', messages })
    expect((await claude.json()) as object).toEqual({ input_tokens: 12 })
    expect(wired.service.seen.at(-1)).toMatchObject({
      path: '/v1/projects/my-project/locations/us-central1/publishers/anthropic/models/count-tokens:rawPredict',
      json: { model: 'claude-x', messages },
    })
  })

  test('creates embeddings with the predict method', async () => {
    await wired.channel(42, 'gemini-embedding-001', { key })
    google(() => Response.json({ predictions: [{ embeddings: { values: [1, 2], statistics: { token_count: 5 } } }] }))
    const body = await (await wired.post('/v1/embeddings', { model: 'm', input: 'a' })).json()
    expect(body).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 5 } })
    expect(wired.service.seen.at(-1)).toMatchObject({ json: { instances: [{ content: 'a' }] } })
    const task = { content: { parts: [{ text: 'a' }] }, taskType: 'RETRIEVAL_QUERY' }
    expect((await wired.post('/v1beta/models/m:embedContent', task)).status).toBe(200)
    const instances = [{ content: 'a', task_type: 'RETRIEVAL_QUERY' }]
    expect(wired.service.seen.at(-1)).toMatchObject({ json: { instances } })
  })

  test('lists the models of all its publishers', async () => {
    google((path) => {
      const [, publisher = ''] = /publishers\/(\w+)\/models/.exec(path) ?? []
      return Response.json({ publisherModels: [{ name: `publishers/${publisher}/models/of-${publisher}` }] })
    })
    expect(await wired.models(42, { key })).toEqual(['of-anthropic', 'of-google'])
    expect(wired.service.seen.at(-1)?.headers.get('authorization')).toStartWith('Bearer token-')
  })

  test('if Google refuses to issue a token, the caller gets an upstream error that does not contain the key', async () => {
    // This account has no token from earlier tests.
    await wired.channel(42, 'gemini-x', { key: key.replace('robot@', 'other@') })
    wired.service.answer = () => Response.json({ error: 'invalid_grant' }, { status: 400 })
    const response = await wired.chat()
    expect(response.status).toBeGreaterThanOrEqual(400)
    const told = await response.text()
    expect(told).toContain('the clock of this gateway may be wrong')
    expect(told).not.toContain('PRIVATE KEY')
  })

  test('a malformed key gets an error that describes the right format', () => {
    expect(vertex.keyFault?.(key)).toBeUndefined()
    expect(vertex.keyFault?.(account)).toBeUndefined()
    for (const wrong of ['', 'sk-1', 'us-central1|p', 'us-central1|p|{}', 'us-central1|p|{"client_email":"a"']) {
      expect(vertex.keyFault?.(wrong)).toContain('region|project_id|service-account JSON')
    }
  })

  test('without a base URL, each region has its own host', async () => {
    const signing = { body: '', nowMs: 0, tokens: { get: async () => 't' }, fetchJson: async () => ({}) }
    const call = { mode: 'chat', path: '', model: 'gemini-x', stream: false } as const
    const hostIn = async (region: string) => {
      const upstream = {
        baseUrl: vertex.meta.defaultBaseUrl,
        key: '',
        other: '',
        config: { region, vertex_ai_project_id: 'p', vertex_ai_adc: account },
      }
      const target = await vertex.chat(upstream, 'gemini-x')[0]?.target(upstream, call, signing)
      return new URL(target?.url ?? '').host
    }
    expect(await hostIn('europe-west4')).toBe('europe-west4-aiplatform.googleapis.com')
    expect(await hostIn('global')).toBe('aiplatform.googleapis.com')
    expect(await hostIn('eu')).toBe('aiplatform.eu.rep.googleapis.com')
  })
})
