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
      if (isObject(functionCall))
        learned.calls.push({
          id: typeof functionCall['id'] === 'string' ? functionCall['id'] : undefined,
          name: String(functionCall['name']),
          input: functionCall['args'] ?? {},
        })
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

const count = (value: unknown) => (typeof value === 'number' ? value : 0)
const modality = (details: unknown, name: string) =>
  objects(details)
    .filter((each) => each['modality'] === name)
    .reduce((sum, each) => sum + count(each['tokenCount']), 0)

/** Thoughts and what tools read are counted beside the totals. */
function readUsage(usage: JsonObject, learned: Recorded): void {
  const prompt = count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount'])
  const reasoning = count(usage['thoughtsTokenCount'])
  const completion = count(usage['candidatesTokenCount']) + reasoning
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
    cachedAudio * price.cached +
    imageIn * price.imageInput +
    (completion - audioOut) * price.output +
    audioOut * price.audioOutput
}
