import type { Operation } from '../../server/api/openapi/types.ts'

/** The model for a path. The fake upstream has one model for each kind of call. */
const modelOf = (path: string) =>
  [
    [/rerank/, 'rerank-v3.5'],
    [/chat|messages|responses|generateContent|countTokens/i, 'gpt-4o'],
    [/embeddings|[eE]mbedContent/, 'text-embedding-3-small'],
    [/completions/, 'gpt-3.5-turbo-instruct'],
    [/moderations/, 'omni-moderation-latest'],
    [/images/, 'dall-e-2'],
    [/speech/, 'tts-1'],
    [/audio/, 'whisper-1'],
  ].find(([pattern]) => (pattern as RegExp).test(path))?.[1] as string

/** The path, with a model that the gateway serves filled in. */
export const addressOf = (path: string, model = modelOf(path) ?? 'gpt-4o') =>
  path.replace('{model}', model).replace('{id}', 'resp_1').replace('{item_id}', 'msg_1')

/** A body that the path accepts: the document's example, with a model that the gateway serves, or a form. */
export function bodyOf(path: string, { requestBody }: Operation, fields: object = {}): unknown {
  const content = requestBody?.content ?? {}
  if (!content['multipart/form-data']) {
    return { ...(content['application/json']?.example as object), model: modelOf(path), ...fields }
  }
  const form = new FormData()
  for (const [key, value] of Object.entries({ model: modelOf(path), prompt: 'A gate', ...fields }))
    form.set(key, String(value))
  form.set(path.includes('images') ? 'image' : 'file', new File(['bytes'], path.includes('images') ? 'a.png' : 'a.mp3'))
  return form
}
