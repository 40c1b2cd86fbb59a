import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { decodeFailure } from '../../dialects/bedrock-converse/failure.ts'
import { bedrockConverse } from '../../dialects/bedrock-converse/index.ts'
import { looseList, looseText } from '../../dialects/neutral/fields.ts'
import { rerankOut, rerankTexts } from '../openai-compatible/rerank.ts'
import type { ChatEndpoint, FetchJson, ModeEndpoint, Provider, Upstream, UpstreamCall } from '../provider.ts'
import { catalogueTarget, keyFault, keyForm, regional, regionOf, signedTarget } from './account.ts'
import { betasInBody } from './betas.ts'
import { embedReply, embedRequest } from './embeddings.ts'
import { readClaude, readConverse } from './frames.ts'
import { bedrockModels, modelId } from './models.ts'

const lacks: NonNullable<ChatEndpoint['lacks']> = ['more than one answer', 'logprobs']

function path(upstream: Upstream, { model }: UpstreamCall, action: string): string {
  return `/model/${encodeURIComponent(modelId(model, regionOf(upstream)))}/${action}`
}

const converse: ChatEndpoint = {
  dialect: bedrockConverse,
  wantsBytes: true,
  lacks,
  target: (upstream, call, signing) =>
    signedTarget(upstream, path(upstream, call, call.stream ? 'converse-stream' : 'converse'), signing),
  read: readConverse,
}

/**
 * Claude in Anthropic's own dialect (Anthropic docs, "Claude on Amazon Bedrock"). The URL contains the model and
 * determines whether the response is streamed.
 */
const claude: ChatEndpoint = {
  dialect: { ...anthropicMessages, decodeFailure },
  wantsBytes: true,
  lacks: [...lacks, 'audio'],
  target: (upstream, call, signing) =>
    signedTarget(upstream, path(upstream, call, call.stream ? 'invoke-with-response-stream' : 'invoke'), signing),
  read: readClaude,
  headersInBody: betasInBody,
  finish({ model: _model, stream: _stream, ...body }) {
    return { anthropic_version: 'bedrock-2023-05-31', ...body }
  },
}

const embeddings: ModeEndpoint = {
  target: (upstream, call, signing) => signedTarget(upstream, path(upstream, call, 'invoke'), signing),
  translation: {
    request: (body, { model }) => embedRequest(body, model),
    reply: (answer, { model }, request) => embedReply(answer, model, request),
  },
}

/** Reranking models use Cohere's format, whichever vendor made them (Bedrock user guide, "Use a reranker model"). */
const rerank: ModeEndpoint = {
  target: (upstream, call, signing) => signedTarget(upstream, path(upstream, call, 'invoke'), signing),
  translation: {
    request: (body, { model }) => ({
      query: body['query'],
      documents: rerankTexts(body),
      ...(body['top_n'] !== undefined && { top_n: body['top_n'] }),
      ...(model.includes('cohere') && { api_version: 2 }),
    }),
    // `meta` contains the billed units.
    reply: (answer, { model }, request) => ({
      ...rerankOut(answer['results'], model, request),
      ...(answer['meta'] !== undefined && { meta: answer['meta'] }),
    }),
  },
}

/**
 * Lists the models that can be called by their ids, and the inference profiles, through which the other models are
 * called (Bedrock API reference, "ListFoundationModels").
 */
async function listModels(upstream: Upstream, fetchJson: FetchJson, nowMs: number): Promise<string[]> {
  const namesAt = async (path: string, list: string, name: string) => {
    const { url, headers } = catalogueTarget(upstream, path, nowMs)
    return looseList((await fetchJson(url, headers))[list]).flatMap((each) => looseText(each[name]) || [])
  }
  const models = await namesAt('/foundation-models?byInferenceType=ON_DEMAND', 'modelSummaries', 'modelId')
  const profiles = await namesAt(
    '/inference-profiles?maxResults=1000',
    'inferenceProfileSummaries',
    'inferenceProfileId',
  )
  return [...models, ...profiles]
}

/** The provider for Amazon Bedrock. */
export const bedrock: Provider = {
  meta: {
    type: 33,
    name: 'bedrock',
    label: 'AWS',
    color: 'black',
    defaultBaseUrl: regional,
    models: bedrockModels,
    keyHint: keyForm,
  },
  keyFault,
  modes: { embeddings, rerank },
  chat: (_upstream, model) => (model.includes('claude') ? [converse, claude] : [converse]),
  asksForStreamUsage: false,
  listModels,
}
