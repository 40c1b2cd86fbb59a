import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { embeddedTokens, embedRequest, predictEmbedRequest, vectorsIn } from '../../dialects/gemini/embeddings.ts'
import { imageReply, imageRequest, isImagen } from '../../dialects/gemini/images.ts'
import { gemini } from '../../dialects/gemini/index.ts'
import { looseList, looseText } from '../../dialects/neutral/fields.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { GatewayError } from '../../errors.ts'
import { embeddingsOut, embeddingTexts } from '../openai-compatible/embeddings.ts'
import { googleSpeech } from '../openai-compatible/google-speech.ts'
import type {
  AccessToken,
  ChatEndpoint,
  FetchJson,
  ModeEndpoint,
  Provider,
  Signing,
  Target,
  Upstream,
} from '../provider.ts'
import { type Account, accessToken, accountOf, keyFault, keyForm } from './service-account.ts'

/** The default base URL. `{region}` is replaced by the channel's region. */
const regional = 'https://{region}-aiplatform.googleapis.com'

/** A base URL set by an admin; undefined if Google's base URL is used. */
function ownBase({ baseUrl }: Upstream, { region }: Account): string | undefined {
  return baseUrl === '' || baseUrl === regional ? undefined : baseUrl.replaceAll('{region}', region)
}

/** The host of a region's API (Vertex AI docs, "Locations"). */
function googleBase({ region }: Account): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com`
  return regional.replace('{region}', region)
}

/** The URL of the token endpoint. If an admin set a base URL, the token endpoint is at that base URL, too. */
function tokenUriOf({ tokenUri }: Account, base: string | undefined): string {
  if (base === undefined || !URL.canParse(tokenUri)) return tokenUri
  const { pathname, search } = new URL(tokenUri)
  return `${base}${pathname}${search}`
}

async function address(upstream: Upstream, signing: Signing, path: string, version = 'v1'): Promise<Target> {
  const account = accountOf(upstream)
  const base = ownBase(upstream, account)
  const token = await accessToken(account, tokenUriOf(account, base), signing)
  const parent = `/projects/${account.project}/locations/${account.region}`
  return {
    url: `${base ?? googleBase(account)}/${version}${parent}${path}`,
    headers: { authorization: `Bearer ${token}` },
  }
}

function published(publisher: string, model: string, action: string): string {
  const name = encodeURIComponent(model.replace(/^google\//, '')).replace('%40', '@')
  return `/publishers/${publisher}/models/${name}:${action}`
}

const google: ChatEndpoint = {
  dialect: gemini,
  wantsBytes: true,
  target: (upstream, { model, stream }, signing) =>
    address(
      upstream,
      signing,
      published('google', model, stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
    ),
  countTarget: (upstream, { model }, signing) => address(upstream, signing, published('google', model, 'countTokens')),
}

/**
 * Claude on Vertex (Anthropic docs, "Claude on Vertex AI"). The URL contains the model, and the body contains
 * Anthropic's API version.
 */
const claude: ChatEndpoint = {
  dialect: anthropicMessages,
  wantsBytes: true,
  lacks: ['audio', 'more than one answer', 'logprobs'],
  forwards: ['anthropic-beta'],
  target: (upstream, { model, stream }, signing) =>
    address(upstream, signing, published('anthropic', model, stream ? 'streamRawPredict' : 'rawPredict')),
  // To count tokens, the model is sent in the body.
  countTarget: (upstream, _call, signing) =>
    address(upstream, signing, published('anthropic', 'count-tokens', 'rawPredict')),
  finish({ model: _model, ...body }) {
    return { anthropic_version: 'vertex-2023-10-16', ...body }
  },
}

/** Open models, which are named `publisher/model`, use OpenAI's format (Vertex AI docs, "Call open models"). */
const open: ChatEndpoint = {
  dialect: openaiChat,
  target: (upstream, _call, signing) => address(upstream, signing, '/endpoints/openapi/chat/completions'),
}

function chat(model: string): ChatEndpoint {
  if (model.includes('claude')) return claude
  return model.includes('/') && !model.startsWith('google/') ? open : google
}

/** The newest embedding model has a separate endpoint, which accepts one text per call. */
const embedsOne = (model: string) => /^gemini-embedding-(?!001)/.test(model)

const embeddings: ModeEndpoint = {
  target: (upstream, { model }, signing) =>
    embedsOne(model)
      ? address(upstream, signing, published('google', model, 'embedContent'), 'v1beta1')
      : address(upstream, signing, published('google', model, 'predict')),
  translation: {
    request(body, { model }) {
      const texts = embeddingTexts(body)
      if (!embedsOne(model)) return predictEmbedRequest(texts, body)
      const [text = '', ...others] = texts
      if (others.length > 0)
        throw new GatewayError('invalid_field_value', 'input must be a single string for this model', {
          param: 'input',
        })
      return embedRequest(text, body)
    },
    reply: (answer, { model }, request) => embeddingsOut(vectorsIn(answer), model, request, embeddedTokens(answer)),
  },
}

const images: ModeEndpoint = {
  target: (upstream, { model }, signing) =>
    address(upstream, signing, published('google', model, isImagen(model) ? 'predict' : 'generateContent')),
  translation: { request: (body, { model }) => imageRequest(body, model), reply: imageReply },
}

const speech: ModeEndpoint = {
  ...googleSpeech,
  target: (upstream, { model }, signing) => address(upstream, signing, published('google', model, 'generateContent')),
}

/** Lists Google's models and Claude (Vertex AI API reference, "publishers.models.list"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson, nowMs: number): Promise<string[]> {
  const account = accountOf(upstream)
  const base = ownBase(upstream, account)
  const tokens = { get: async (_name: string, make: () => Promise<AccessToken>) => (await make()).value }
  const token = await accessToken(account, tokenUriOf(account, base), { body: '', nowMs, tokens, fetchJson })
  const headers = { authorization: `Bearer ${token}` }
  const namesOf = async (publisher: string) => {
    const url = `${base ?? googleBase(account)}/v1beta1/publishers/${publisher}/models?pageSize=1000`
    const list = looseList((await fetchJson(url, headers))['publisherModels'])
    return list.map(({ name }) => looseText(name).replace(/^.*\/models\//, '')).filter((name) => name !== '')
  }
  return [...(await namesOf('google')), ...(await namesOf('anthropic'))]
}

/** The provider for Google Cloud's Vertex AI. */
export const vertex: Provider = {
  meta: {
    type: 42,
    name: 'vertex',
    label: 'VertexAI',
    color: 'blue',
    defaultBaseUrl: regional,
    models: [
      'gemini-3.5-flash',
      'gemini-3.1-pro-preview',
      'gemini-3-flash-preview',
      'gemini-2.5-pro',
      'gemini-2.5-flash',
      'gemini-2.5-flash-lite',
      'gemini-2.0-flash-001',
      'gemini-1.5-pro-002',
      'gemini-1.5-pro-001',
      'gemini-1.5-flash-002',
      'gemini-1.5-flash-001',
      'gemini-embedding-001',
      'claude-opus-5',
      'claude-sonnet-5',
      'claude-opus-4-8',
      'claude-opus-4-7',
      'claude-opus-4-6',
      'claude-sonnet-4-6',
      'claude-haiku-4-5@20251001',
      'claude-sonnet-4-5@20250929',
      'claude-3-7-sonnet@20250219',
      'claude-3-5-sonnet-v2@20241022',
      'claude-3-5-sonnet@20240620',
      'claude-3-5-haiku@20241022',
      'claude-3-opus@20240229',
      'claude-3-sonnet@20240229',
      'claude-3-haiku@20240307',
    ],
    keyHint: keyForm,
  },
  keyFault,
  modes: { embeddings, images, speech },
  chat: (_upstream, model) => [chat(model)],
  asksForStreamUsage: true,
  listModels,
}
