import type { RelayMode } from './relay-modes.ts'

/** One POST path of the relay and the kind of call it is. */
export interface RelayPath {
  path: string
  mode: RelayMode
  /** The body is a multipart form, not JSON. */
  form?: true
  /** JSON is taken too: images may be named by their address (OpenAI API reference, "create image edit"). */
  jsonToo?: true
}

/** Every POST path of the relay; the server looks calls up here, tests and docs walk it. */
export const relayPaths = [
  { path: '/v1/chat/completions', mode: 'chat' },
  { path: '/v1/completions', mode: 'completions' },
  { path: '/v1/embeddings', mode: 'embeddings' },
  { path: '/v1/moderations', mode: 'moderations' },
  { path: '/v1/images/generations', mode: 'images' },
  { path: '/v1/images/edits', mode: 'image-edits', form: true, jsonToo: true },
  { path: '/v1/images/variations', mode: 'image-variations', form: true },
  { path: '/v1/audio/speech', mode: 'speech' },
  { path: '/v1/audio/transcriptions', mode: 'transcriptions', form: true },
  { path: '/v1/audio/translations', mode: 'translations', form: true },
] as const satisfies readonly RelayPath[]

/** The model named in the path, as clients of old versions of the OpenAI API send it; it may hold slashes. */
export const enginePath = '/v1/engines/{model}/embeddings'

/** What a relay token reads, by GET. `{model}` may hold slashes. */
export const relayReads = [
  '/v1/models',
  '/v1/models/{model}',
  '/dashboard/billing/subscription',
  '/v1/dashboard/billing/subscription',
  '/dashboard/billing/usage',
  '/v1/dashboard/billing/usage',
] as const

/** Parts of the OpenAI API that exist but are not served here, each with everything below it. */
export const notServedPaths = [
  '/v1/edits',
  '/v1/responses',
  '/v1/files',
  '/v1/uploads',
  '/v1/batches',
  '/v1/fine-tunes',
  '/v1/fine_tuning',
  '/v1/assistants',
  '/v1/threads',
  '/v1/vector_stores',
  '/v1/realtime',
  '/v1/containers',
  '/v1/conversations',
  '/v1/evals',
  '/v1/videos',
  '/v1/organization',
  '/v1/chat/completions',
  '/v1/models',
] as const
