import type { RelayMode } from './relay-modes.ts'

/** One POST path of the relay, and its kind of call. */
export interface RelayPath {
  path: string
  mode: RelayMode
  /** The body is a multipart form, not JSON. */
  form?: true
  /** JSON is accepted too: images may be given by URL (OpenAI API reference, "create image edit"). */
  jsonToo?: true
}

/** Every POST path of the relay. The server looks up calls here, and tests and docs iterate over the table. */
export const relayPaths = [
  { path: '/v1/chat/completions', mode: 'chat' },
  { path: '/v1/completions', mode: 'completions' },
  { path: '/v1/embeddings', mode: 'embeddings' },
  { path: '/v1/moderations', mode: 'moderations' },
  { path: '/v1/rerank', mode: 'rerank' },
  { path: '/v1/images/generations', mode: 'images' },
  { path: '/v1/images/edits', mode: 'image-edits', form: true, jsonToo: true },
  { path: '/v1/images/variations', mode: 'image-variations', form: true },
  { path: '/v1/audio/speech', mode: 'speech' },
  { path: '/v1/audio/transcriptions', mode: 'transcriptions', form: true },
  { path: '/v1/audio/translations', mode: 'translations', form: true },
] as const satisfies readonly RelayPath[]

/** The wire formats that callers may use for conversations. */
export const callerDialects = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const
export type CallerDialect = (typeof callerDialects)[number]

/** A POST path of a wire format (dialect) other than OpenAI's chat. `{model}` may contain slashes. */
export interface DialectPath extends RelayPath {
  dialect: CallerDialect
  /** The call only counts the tokens of the request. */
  countOnly?: true
  /** The response replaces the conversation so far. */
  compacts?: true
  /**
   * The response is a stream of events. If this is absent and the path does not contain the model, the body decides.
   */
  stream?: true
  /** The body contains one text (`one`) or several texts (`batch`), which the call turns into vectors. */
  embeds?: 'one' | 'batch'
}

/** Every POST path of the other dialects: Anthropic's Messages, OpenAI's Responses, Google's Gemini. */
export const dialectPaths = [
  { path: '/v1/responses', mode: 'chat', dialect: 'openai-responses' },
  { path: '/v1/responses/compact', mode: 'chat', dialect: 'openai-responses', compacts: true },
  { path: '/v1/messages', mode: 'chat', dialect: 'anthropic-messages' },
  { path: '/v1/messages/count_tokens', mode: 'chat', dialect: 'anthropic-messages', countOnly: true },
  { path: '/v1beta/models/{model}:generateContent', mode: 'chat', dialect: 'gemini' },
  { path: '/v1beta/models/{model}:streamGenerateContent', mode: 'chat', dialect: 'gemini', stream: true },
  { path: '/v1beta/models/{model}:countTokens', mode: 'chat', dialect: 'gemini', countOnly: true },
  { path: '/v1beta/models/{model}:embedContent', mode: 'embeddings', dialect: 'gemini', embeds: 'one' },
  { path: '/v1beta/models/{model}:batchEmbedContents', mode: 'embeddings', dialect: 'gemini', embeds: 'batch' },
] as const satisfies readonly DialectPath[]

/** GET paths of the other dialects, which are called with a relay token. */
export const dialectReads = ['/v1beta/models', '/v1beta/models/{model}'] as const

/** A session over a WebSocket, OpenAI's Realtime API: a GET that is upgraded. */
export const realtimePath = '/v1/realtime'

/** A WebSocket over which responses are created turn by turn: a GET that is upgraded. */
export const responsesSocketPath = '/v1/responses'

/** Calls about the responses and conversations that a service stores for the user who created them. */
export const storedPaths = [
  { method: 'GET', path: '/v1/responses/{id}' },
  { method: 'DELETE', path: '/v1/responses/{id}' },
  { method: 'GET', path: '/v1/responses/{id}/input_items' },
  { method: 'POST', path: '/v1/responses/{id}/cancel' },
  { method: 'POST', path: '/v1/conversations' },
  { method: 'GET', path: '/v1/conversations/{id}' },
  { method: 'POST', path: '/v1/conversations/{id}' },
  { method: 'DELETE', path: '/v1/conversations/{id}' },
  { method: 'GET', path: '/v1/conversations/{id}/items' },
  { method: 'POST', path: '/v1/conversations/{id}/items' },
  { method: 'GET', path: '/v1/conversations/{id}/items/{item_id}' },
  { method: 'DELETE', path: '/v1/conversations/{id}/items/{item_id}' },
] as const

/**
 * The embeddings path of old versions of the OpenAI API, which contains the model. The model name may contain slashes.
 */
export const enginePath = '/v1/engines/{model}/embeddings'

/** GET paths that are called with a relay token. `{model}` may contain slashes. */
export const relayReads = [
  '/v1/models',
  '/v1/models/{model}',
  '/dashboard/billing/subscription',
  '/v1/dashboard/billing/subscription',
  '/dashboard/billing/usage',
  '/v1/dashboard/billing/usage',
] as const

/**
 * Parts of the APIs of OpenAI, Anthropic and Google that Tollgate does not serve, each including all paths below it.
 */
export const notServedPaths = [
  '/v1/edits',
  '/v1/files',
  '/v1/uploads',
  '/v1/batches',
  '/v1/fine-tunes',
  '/v1/fine_tuning',
  '/v1/assistants',
  '/v1/threads',
  '/v1/vector_stores',
  '/v1/realtime/calls',
  '/v1/realtime/client_secrets',
  '/v1/realtime/sessions',
  '/v1/realtime/transcription_sessions',
  '/v1/containers',
  '/v1/conversations',
  '/v1/evals',
  '/v1/videos',
  '/v1/audio/voices',
  '/v1/audio/voice_consents',
  '/v1/chatkit',
  '/v1/skills',
  '/v1/complete',
  '/v1/agents',
  '/v1/sessions',
  '/v1/environments',
  '/v1/vaults',
  '/v1/memory_stores',
  '/v1/organization',
  '/v1/oneapi/proxy',
  '/v1/chat/completions',
  '/v1/models',
  '/v1/responses',
  '/v1/messages',
  '/v1beta/files',
  '/v1beta/cachedContents',
  '/v1beta/batches',
  '/v1beta/models',
  '/v1beta/tunedModels',
  '/v1beta/corpora',
  '/v1beta/fileSearchStores',
  '/v1beta/generatedFiles',
  '/v1beta/interactions',
  '/v1beta/operations',
  '/v1alpha/auth_tokens',
  '/upload/v1beta',
  '/upload/v1',
] as const
