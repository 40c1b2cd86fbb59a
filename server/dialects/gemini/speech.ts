import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import { looseList, looseObject, looseText, wrongField } from '../neutral/fields.ts'
import { usageIn } from './usage.ts'

/**
 * OpenAI's voices. Google does not have them, so the default voice replaces them. Callers request one of Google's own
 * voices by its name.
 */
const openaiVoices: ReadonlySet<string> = new Set(
  'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '),
)
const defaultVoice = 'Kore'

/**
 * OpenAI's speech request → Google's (Gemini API, "Text-to-speech"). Throws GatewayError (400) for any format but WAV.
 */
export function speechRequest(body: JsonObject): JsonObject {
  const { voice, response_format: format = 'wav' } = body
  if (format !== 'wav') throw wrongField('response_format', 'wav: this channel makes no other sound')
  const voiceName = typeof voice === 'string' && !openaiVoices.has(voice) ? voice : defaultVoice
  const texts = [looseText(body['instructions']), looseText(body['input'])].filter((text) => text !== '')
  return {
    contents: [{ role: 'user', parts: [{ text: texts.join('\n\n') }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
    },
  }
}

/** Audio in the form that callers expect. It also holds the usage, because an audio file has no field for it. */
export class SoundResponse extends Response {
  readonly usage: Usage | undefined

  constructor(sound: Uint8Array<ArrayBuffer> | ReadableStream | null, usage: Usage | undefined) {
    super(sound, { headers: { 'content-type': 'audio/wav' } })
    this.usage = usage
  }
}

/** The audio in Google's response as a WAV file; undefined if there is none. */
export function soundIn(answer: JsonObject): SoundResponse | undefined {
  const [candidate] = looseList(answer['candidates'])
  const parts = looseList(looseObject(candidate?.['content'])['parts'])
  const inline = parts.map((part) => looseObject(part['inlineData'])).filter(({ data }) => looseText(data) !== '')
  if (inline.length === 0) return undefined
  const samples = Buffer.concat(inline.map(({ data }) => Buffer.from(looseText(data), 'base64')))
  const rate = Number(/rate=(\d+)/.exec(looseText(inline[0]?.['mimeType']))?.[1] ?? 24_000)
  return new SoundResponse(wavOf(samples, rate), usageIn(answer['usageMetadata']))
}

const headBytes = 44
const sampleBytes = 2

/** Mono samples of 16 bits, preceded by a header that describes them. */
function wavOf(samples: Buffer, rate: number): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(headBytes)
  head.write('RIFF', 0)
  head.writeUInt32LE(headBytes - 8 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * sampleBytes, 28)
  head.writeUInt16LE(sampleBytes, 32)
  head.writeUInt16LE(8 * sampleBytes, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return new Uint8Array(Buffer.concat([head, samples]))
}
