import { batchEmbedRequest, embeddedTokens, vectorsIn } from '../../dialects/gemini/embeddings.ts'
import { imageReply, imageRequest, isImagen } from '../../dialects/gemini/images.ts'
import { gemini as dialect } from '../../dialects/gemini/index.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import { googleSpeech } from '../openai-compatible/google-speech.ts'
import type { ChatEndpoint, FetchJson, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'

const defaultVersion = 'v1beta'

/** The URL of a path under the API version, which the base URL may already contain. */
function address(upstream: Upstream, path: string): Target {
  const { baseUrl, config, other, key } = upstream
  const named = typeof config['api_version'] === 'string' && config['api_version'] !== '' && config['api_version']
  const version = /\/v\d\w*$/.test(baseUrl) ? '' : `/${named || other || defaultVersion}`
  return { url: `${baseUrl}${version}${path}`, headers: { 'x-goog-api-key': key } }
}

function modelPath(model: string, action: string): string {
  return `/models/${encodeURIComponent(model.replace(/^models\//, ''))}:${action}`
}

const chat: ChatEndpoint = {
  dialect,
  // Google fetches only URLs of its own storage and of some videos. Files at other URLs must be sent as bytes.
  wantsBytes: true,
  target: (upstream, call) =>
    address(upstream, modelPath(call.model, call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent')),
  countTarget: (upstream, call) => address(upstream, modelPath(call.model, 'countTokens')),
}

const embeddings: ModeEndpoint = {
  target: (upstream, call) => address(upstream, modelPath(call.model, 'batchEmbedContents')),
  translation: {
    request: (body, { model }) => batchEmbedRequest(model, embeddingTexts(body), body),
    reply: (answer, { model }, request) => embeddingsOut(vectorsIn(answer), model, request, embeddedTokens(answer)),
  },
}

const images: ModeEndpoint = {
  target: (upstream, call) =>
    address(upstream, modelPath(call.model, isImagen(call.model) ? 'predict' : 'generateContent')),
  translation: { request: (body, { model }) => imageRequest(body, model), reply: imageReply },
}

const speech: ModeEndpoint = {
  ...googleSpeech,
  target: (upstream, call) => address(upstream, modelPath(call.model, 'generateContent')),
}

/** The names from `GET /models` (Gemini API reference, "models.list"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const { url, headers } = address(upstream, '/models?pageSize=1000')
  const list: unknown = (await fetchJson(url, headers))['models']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream returned no list of models')
  const names = list.flatMap((each: unknown) =>
    isObject(each) && typeof each['name'] === 'string' ? [each['name']] : [],
  )
  return names.map((name) => name.replace(/^models\//, ''))
}

/** The provider for Google's Gemini API. */
export const gemini: Provider = {
  meta: {
    type: 24,
    name: 'gemini',
    label: 'Google Gemini',
    color: 'orange',
    defaultBaseUrl: 'https://generativelanguage.googleapis.com',
    models: [
      'gemini-3.6-flash',
      'gemini-3.5-flash',
      'gemini-3.5-flash-lite',
      'gemini-3.1-pro-preview',
      'gemini-3.1-flash-lite',
      'gemini-3-pro-preview',
      'gemini-3-flash-preview',
      'gemini-3-pro-image-preview',
      'gemini-2.5-pro',
      'gemini-2.5-flash',
      'gemini-2.5-flash-lite',
      'gemini-2.5-flash-image',
      'gemini-2.5-flash-preview-tts',
      'gemini-2.5-pro-preview-tts',
      'gemini-embedding-2',
      'gemini-embedding-001',
      'gemini-2.0-flash',
      'gemini-2.0-flash-001',
      'gemini-2.0-flash-exp',
      'gemini-2.0-pro-exp-02-05',
      'gemini-1.5-pro',
      'gemini-1.5-flash',
      'gemini-1.5-flash-8b',
      'gemini-1.0-pro',
      'gemini-pro',
    ],
    keyHint: 'AIza…',
    otherDefault: defaultVersion,
    otherLabel: 'API version',
  },
  modes: { embeddings, images, speech },
  chat: () => [chat],
  asksForStreamUsage: false,
  listModels,
}
