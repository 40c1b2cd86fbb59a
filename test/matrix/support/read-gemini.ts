import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { price } from '../../sdk/support/prices.ts'
import { type End, nothing, type Recorded, type WireReader } from './learned.ts'
import { objects } from './read-chat.ts'

const ends: Readonly<Record<string, End>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
}

/** Google's generateContent. */
export const readGemini: WireReader = {
  whole: (body) => readChunks([body]),
  stream: (data) => readChunks(data.map((each) => JSON.parse(each) as JsonObject)),
}

function readChunks(chunks: readonly JsonObject[]): Recorded {
  const learned = nothing()
  for (const chunk of chunks) {
    const candidate = objects(chunk['candidates']).find(({ index = 0 }) => index === 0)
    const content = isObject(candidate?.['content']) ? candidate['content'] : {}
    for (const { text = '', thought, functionCall } of objects(content['parts'])) {
      if (thought) learned.thought += String(text)
      else learned.text += String(text)
      if (isObject(functionCall)) readCall(functionCall, learned)
    }
    const reason = candidate?.['finishReason']
    if (typeof reason === 'string') learned.end = ends[reason] ?? 'other'
    if (isObject(chunk['usageMetadata'])) readUsage(chunk['usageMetadata'], learned)
    const feedback = chunk['promptFeedback']
    if (isObject(feedback) && feedback['blockReason']) learned.end = 'content-filter'
  }
  if (learned.end === 'stop' && learned.calls.length > 0) learned.end = 'tool-calls'
  return learned
}

/** A call, or the next piece of a call whose arguments arrive in pieces. */
function readCall({ id, name, args, partialArgs }: JsonObject, learned: Recorded): void {
  if (typeof name === 'string')
    learned.calls.push({ id: typeof id === 'string' ? id : undefined, name, input: args ?? {} })
  const open = learned.calls.at(-1)
  for (const { jsonPath, ...value } of objects(partialArgs)) {
    const said = value['stringValue'] ?? value['numberValue'] ?? value['boolValue'] ?? null
    put(open?.input as JsonObject, String(jsonPath).match(/[^$.[\]]+/g) ?? [], said)
  }
}

/** Sets the value at a path. Strings are appended. */
function put(root: JsonObject, path: readonly string[], value: unknown): void {
  let at = root
  for (const [depth, key] of path.slice(0, -1).entries()) {
    at[key] ??= /^\d+$/.test(path[depth + 1] ?? '') ? [] : {}
    at = at[key] as JsonObject
  }
  const last = path.at(-1) ?? ''
  const before = at[last]
  at[last] = typeof before === 'string' && typeof value === 'string' ? before + value : value
}

const count = (value: unknown) => (typeof value === 'number' ? value : 0)
const modality = (details: unknown, name: string) =>
  objects(details)
    .filter((each) => each['modality'] === name)
    .reduce((sum, each) => sum + count(each['tokenCount']), 0)

/** `candidatesTokenCount` excludes thoughts, and `promptTokenCount` excludes tool-use prompts. */
function readUsage(usage: JsonObject, learned: Recorded): void {
  const prompt = count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount'])
  const reasoning = count(usage['thoughtsTokenCount'])
  const told = count(usage['candidatesTokenCount']) + reasoning
  const completion = told + Math.max(0, count(usage['totalTokenCount']) - prompt - told)
  const cached = count(usage['cachedContentTokenCount'])
  const audioIn = modality(usage['promptTokensDetails'], 'AUDIO')
  const imageIn = modality(usage['promptTokensDetails'], 'IMAGE')
  const audioOut = modality(usage['candidatesTokensDetails'], 'AUDIO')
  const cachedAudio = Math.min(modality(usage['cacheTokensDetails'], 'AUDIO'), audioIn)
  const cachedText = Math.min(cached - cachedAudio, prompt - audioIn - imageIn)
  learned.usage = { prompt, completion, cached, reasoning }
  learned.quota =
    (prompt - cachedText - audioIn - imageIn) * price.input +
    cachedText * price.cached +
    (audioIn - cachedAudio) * price.audioInput +
    cachedAudio * price.audioInput * (price.cached / price.input) +
    imageIn * price.imageInput +
    (completion - audioOut) * price.output +
    audioOut * price.audioOutput
}
