import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { listCases, loadCase, type RecordingCase, type RecordingFilter, sseData } from '../../helpers/recordings.ts'
import { swept } from '../../helpers/sweeps.ts'
import type { ChannelSetup } from './rig.ts'

/** The path of each kind of call in the OpenAI API. A recording with another path has another dialect. */
const paths: Readonly<Record<string, string>> = {
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  'images-edit': '/images/edits',
  moderations: '/moderations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
}

/** The recordings of one kind of call in OpenAI's dialect that this run uses. */
export function openaiCases(api: string, filter: RecordingFilter = {}): readonly RecordingCase[] {
  return swept(allOpenaiCases(api, filter), ({ id }) => id)
}

/** All recordings of one kind of call in OpenAI's dialect. */
export function allOpenaiCases(api: string, filter: RecordingFilter = {}): RecordingCase[] {
  return listCases({ ...filter, api })
    .map(loadCase)
    .filter((recording) => recording.request.path.endsWith(paths[api] ?? '') && !speaksOtherwise(recording))
}

/** Cohere's v2 API and Ollama's native API have paths like OpenAI's, but their own dialects. */
function speaksOtherwise({ provider, request }: RecordingCase): boolean {
  return (provider === 'cohere' && request.path.startsWith('/v2/')) || request.path.startsWith('/api/embed')
}

/** Every model in the recordings, so that each can have a price. */
export function recordedModels(recordings: readonly RecordingCase[]): Set<string> {
  return new Set(recordings.flatMap((recording) => [modelOf(recording), deploymentOf(recording) ?? 'any-model']))
}

/** The model in the recorded request. */
function modelOf(recording: RecordingCase): string {
  const { requestJson, request } = recording
  const form = /name="model"\r\n\r\n([^\r]+)/.exec(
    Buffer.from(request.body?.subarray(0, 2000) ?? []).toString('latin1'),
  )
  const asked = isObject(requestJson) ? requestJson['model'] : form?.[1]
  return typeof asked === 'string' && asked !== '' ? asked : (recording.model ?? 'unnamed-model')
}

function deploymentOf({ provider, request }: RecordingCase): string | undefined {
  return provider === 'azure' ? /\/openai\/deployments\/([^/]+)\//.exec(request.path)?.[1] : undefined
}

/**
 * The channel that an operator would create for the service: its type, and a base URL that leads to the recorded path.
 */
export function setupOf(recording: RecordingCase): ChannelSetup {
  const { provider, request, api } = recording
  const deployment = deploymentOf(recording)
  if (deployment !== undefined) {
    const version = request.query['api-version']
    const model = modelOf(recording)
    return {
      type: 3,
      basePath: '',
      ...(typeof version === 'string' && { other: version }),
      ...(model !== deployment && { modelMapping: { [model]: deployment } }),
    }
  }
  const type = { openai: 1, openrouter: 20, '360': 19 }[provider] ?? 8
  return { type, basePath: request.path.slice(0, -(paths[api] ?? '').length).replace(/\/v1$/, '') }
}

/** The recorded request body, or one that could have led to the recorded response if no request was recorded. */
export function requestOf(recording: RecordingCase): JsonObject {
  const body = isObject(recording.requestJson) ? { ...recording.requestJson } : inventedRequest(recording)
  body['model'] = modelOf(recording)
  if (recording.kind === 'sse') body['stream'] = true
  else if (recording.kind === 'json' && body['stream'] === true) delete body['stream']
  return body
}

/**
 * A request with a prompt as long as the recorded usage reports, because the gateway rejects usage that cannot belong
 * to the request.
 */
function inventedRequest(recording: RecordingCase): JsonObject {
  const tokens = recordedUsage(recording)?.['prompt_tokens']
  const text = 'What is this? '.repeat(Math.max(1, Math.ceil((typeof tokens === 'number' ? tokens : 0) / 4)))
  if (recording.api === 'completions') return { prompt: text }
  if (recording.api !== 'chat') return { input: text }
  const tools = recording.features.includes('tools')
    ? { tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }] }
    : {}
  return { messages: [{ role: 'user', content: text }], ...tools }
}

/** The parsed events of a recorded stream, without the end marker. */
export function recordedEvents(recording: RecordingCase): JsonObject[] {
  return sseData(recording)
    .filter((data) => data.trim() !== '[DONE]' && data.trim() !== '')
    .map((data) => JSON.parse(data) as JsonObject)
}

/** The usage in the recording. For a stream it is the last one. */
export function recordedUsage(recording: RecordingCase): JsonObject | undefined {
  if (recording.kind === 'sse')
    return recordedEvents(recording)
      .map(usageIn)
      .findLast((usage) => usage !== undefined)
  return isObject(recording.responseJson) ? usageIn(recording.responseJson) : undefined
}

function usageIn(body: JsonObject): JsonObject | undefined {
  const choice: unknown = Array.isArray(body['choices']) ? body['choices'][0] : undefined
  return [body['usage'], isObject(body['x_groq']) && body['x_groq']['usage'], isObject(choice) && choice['usage']].find(
    isObject,
  )
}

/**
 * True if a stream ended properly, which means with the end marker or with a finish reason for every requested choice.
 */
export function isWholeStream(events: readonly JsonObject[], hasEndMark: boolean, choices = 1): boolean {
  if (hasEndMark) return true
  const open = new Set<unknown>()
  const finished = new Set<unknown>()
  for (const choice of events.flatMap((event) => (Array.isArray(event['choices']) ? event['choices'] : []))) {
    if (!isObject(choice)) continue
    if (choice['finish_reason']) {
      open.delete(choice['index'])
      finished.add(choice['index'])
    } else if (!finished.has(choice['index'])) open.add(choice['index'])
  }
  return finished.size >= choices && open.size === 0
}
