import { isObject } from '../../../server/lib/json.ts'
import type { Behaviour } from '../../helpers/fake-upstream.ts'
import {
  listCases,
  loadCase,
  type RecordingCase,
  type RecordingFilter,
  replay,
  sseData,
} from '../../helpers/recordings.ts'
import { swept } from '../../helpers/sweeps.ts'
import { givingTokens } from './fakes/index.ts'
import type { Recorded, WireReader } from './learned.ts'
import { readChat } from './read-chat.ts'
import { readDashscope, readErnie, readHunyuan, readPalm, readZhipu } from './read-china.ts'
import { readGemini } from './read-gemini.ts'
import { readMessages } from './read-messages.ts'
import { readResponses } from './read-responses.ts'
import type { Setup } from './rig.ts'

/** Recordings of one format, a channel that uses the format, and a reader that uses none of the gateway's code. */
export interface Format {
  name: string
  apis: readonly string[]
  /** False for a recording of one of these APIs that has another format. Default: all recordings have this format. */
  isMeant?(recording: RecordingCase): boolean
  reader: WireReader
  setup(recording: RecordingCase): Setup
}

/** Services whose "chat" API has a native format. */
const foreignChats = ['baidu', 'hunyuan', 'bedrock', 'cohere']

/** The formats of the recordings. */
export const formats: readonly Format[] = [
  {
    name: 'openai-chat',
    apis: ['chat'],
    isMeant: ({ provider, request }) => !foreignChats.includes(provider) && !request.path.startsWith('/api/chat'),
    reader: readChat,
    setup: () => ({ type: 8 }),
  },
  {
    name: 'openai-responses',
    apis: ['responses'],
    reader: readResponses,
    // This model is available only in this dialect.
    setup: () => ({ type: 1, model_mapping: '{"any-model":"o1-pro"}' }),
  },
  { name: 'anthropic-messages', apis: ['messages'], reader: readMessages, setup: () => ({ type: 14 }) },
  { name: 'gemini', apis: ['generateContent'], reader: readGemini, setup: () => ({ type: 24 }) },
  { name: 'ernie', apis: ['ernie'], reader: readErnie, setup: () => ({ type: 15, key: 'api-key|secret-key' }) },
  { name: 'hunyuan', apis: ['hunyuan'], reader: readHunyuan, setup: () => ({ type: 23, key: '1|id|secret' }) },
  {
    name: 'dashscope',
    apis: ['dashscope-text', 'dashscope-multimodal'],
    // Image models have no conversations, and only the first event of the research model was recorded.
    isMeant: ({ model }) => !/^qwen-(?:image|deep-research)/.test(model ?? ''),
    reader: readDashscope,
    setup: () => ({ type: 17 }),
  },
  {
    name: 'zhipu-v3',
    apis: ['zhipu-v3'],
    reader: readZhipu,
    setup: () => ({ type: 16, key: 'id.secret', model_mapping: '{"any-model":"chatglm_pro"}' }),
  },
  { name: 'palm', apis: ['palm'], reader: readPalm, setup: () => ({ type: 11 }) },
]

/** Models that calls are mapped to, and that therefore need a price. */
export const mappedModels: readonly string[] = ['o1-pro', 'chatglm_pro']

/**
 * Sends a recorded response, and issues tokens to channels that need one first. `chunking`: one write per event, or per
 * this many bytes.
 */
export function replayed(recording: RecordingCase, chunking: 'event' | number = 'event'): Behaviour {
  return givingTokens(replay(recording, chunking))
}

/** The recordings of a format that this run uses. */
export function casesOf({ apis, isMeant = () => true }: Format, filter: RecordingFilter): RecordingCase[] {
  return swept(listCases({ ...filter, api: apis }), ({ id }) => id)
    .map(loadCase)
    .filter(isMeant)
}

/** The content of a recording, or undefined if it is not an answer. */
export function readRecorded({ reader }: Format, recording: RecordingCase): Recorded | undefined {
  if (recording.kind === 'json')
    return isObject(recording.responseJson) ? reader.whole(recording.responseJson) : undefined
  return reader.stream(sseData(recording))
}
