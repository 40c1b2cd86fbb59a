import type { Usage } from '../../../contract/usage.ts'
import {
  bytesOfBase64,
  contentIn,
  deltaKind,
  eventType,
  readWritten,
  responseIdOf,
  soundFormats,
  transcriptionModel,
  usualSound,
  writtenField,
} from '../../dialects/openai-realtime/events.ts'
import { readRealtimeUsage } from '../../dialects/openai-realtime/usage.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'

/** Counts the tokens of texts. */
export type CountTexts = (texts: readonly string[]) => number | Promise<number>

/** Tokens per second of audio (OpenAI, "Managing costs" of the Realtime API). */
const spokenPerSecond = 20
const heardPerSecond = 10
/** The approximate number of tokens for an image of the usual size. */
const tokensPerImage = 1_000
/** A token rarely has more characters than this. */
const charactersPerToken = 6
/** The caller's events are kept for counting up to this many characters. Beyond that, only their size is recorded. */
const mostKeptCharacters = 1_000_000

/** The maximum duration of a session, in seconds. The audio in a session cannot be longer. */
const longestSessionSeconds = 86_400

/** Events of a caller, other than audio, that add input for the model. */
const sayingEvents: ReadonlySet<string> = new Set(['conversation.item.create', 'session.update', 'response.create'])

/** The caller's input since the last response began. */
interface CallerInput {
  events: string[]
  characters: number
  soundSeconds: number
}

/** The caller's speech as transcribed by another model, if the session requests that. */
export interface Transcription {
  /** The name of the transcribing model; '' if the session did not name it. */
  model: string
  text: string
  /** The usage of the transcription, in tokens or by the length of the audio, if the upstream reported it. */
  usage?: Usage
  seconds?: number
}

/** A response whose usage has not been reported. */
interface OpenResponse {
  input: CallerInput
  /** The texts as they appear in the events, with JSON escapes. */
  written: string[]
  pieces: number
  characters: number
  soundSeconds: number
}

const nothing: Usage = { promptTokens: 0, completionTokens: 0 }

/**
 * Tracks the responses of one session and the usage of each. For each response, the upstream's own figures are used
 * once, if they are plausible. Otherwise, the tokens of the data that passed through are counted at the end of the
 * session.
 */
export class RealtimeMeter {
  /** Tokens that have passed through since the cost was last checked. */
  unseenTokens = 0
  /** Why figures of the upstream were rejected; '' if none were. */
  refused = ''
  /** The cost of the transcriptions, in quota units. `transcriptions` is their number. */
  beside = 0
  transcriptions = 0
  readonly #faultOf: (usage: Usage) => string | undefined
  readonly #priceOf: (transcription: Transcription) => number
  readonly #reported: Usage[] = []
  readonly #open = new Map<string, OpenResponse>()
  readonly #unreported: OpenResponse[] = []
  readonly #done = new Set<string>()
  /** The tokens that the upstream has read and generated so far, if known. They are the prompt of the next response. */
  #context = nothing
  #input = newInput()
  #sound = usualSound
  #isRequested = false
  #transcriptionModel = ''

  /**
   * @param faultOf returns why a usage report is not believed
   * @param priceOf returns the units for a transcription
   */
  constructor(faultOf: (usage: Usage) => string | undefined, priceOf: (transcription: Transcription) => number) {
    this.#faultOf = faultOf
    this.#priceOf = priceOf
  }

  /** True if a response is in progress or has been requested. */
  get isBusy(): boolean {
    return this.#open.size > 0 || this.#isRequested
  }

  /** The number of responses, including those that did not complete. */
  get responses(): number {
    return this.#reported.length + this.#unreported.length + this.#open.size
  }

  /** Handles an event from the caller. */
  fromCaller(text: string): void {
    const type = eventType(text)
    if (type === 'input_audio_buffer.append') {
      this.#input.soundSeconds += bytesOfBase64(writtenField(text, 'audio')) / this.#sound.input
    } else if (sayingEvents.has(type)) {
      if (type === 'response.create') this.#isRequested = true
      this.#input.characters += text.length
      if (this.#input.characters <= mostKeptCharacters) this.#input.events.push(text)
    }
  }

  /** Handles an event from the upstream. Returns its kind if it affects the cost. */
  fromUpstream(text: string): 'begun' | 'done' | 'error' | undefined {
    const type = eventType(text)
    const kind = deltaKind(type)
    if (kind) this.#delta(kind, text)
    else if (type === 'response.created') return this.#begin(idIn(responseIn(text)))
    else if (type === 'response.done') return this.#end(responseIn(text))
    else if (type === 'session.created' || type === 'session.updated') {
      const event = tryParse(text)
      if (!isObject(event)) return undefined
      this.#sound = soundFormats(event['session'], this.#sound)
      this.#transcriptionModel = transcriptionModel(event['session']) ?? this.#transcriptionModel
    } else if (type === 'conversation.item.input_audio_transcription.completed') return this.#transcribed(text)
    else if (type === 'error') {
      this.#isRequested = false
      return 'error'
    }
    return undefined
  }

  /** A lower bound of the usage of each response. */
  least(): Usage[] {
    this.unseenTokens = 0
    return [...this.#reported, ...this.#pending().map((each) => this.#leastOf(each))]
  }

  /**
   * The highest possible usage at the end of the responses in progress or, if there are none, at the end of the next
   * response. Future output is not included.
   */
  most(): Usage[] {
    const next = this.#open.size > 0 ? [] : [newResponse(this.#input)]
    return [...this.#reported, ...[...this.#pending(), ...next].map((each) => this.#mostOf(each))]
  }

  /** The complete usage. If the upstream did not report the usage of a response, its tokens are counted. */
  async finish(count: CountTexts): Promise<{ parts: Usage[]; estimated: boolean }> {
    const pending = this.#pending()
    const counted = await Promise.all(pending.map((each) => this.#countOf(each, count)))
    return { parts: [...this.#reported, ...counted], estimated: pending.length > 0 }
  }

  #pending(): OpenResponse[] {
    return [...this.#unreported, ...this.#open.values()]
  }

  #begin(id: string): 'begun' {
    this.#isRequested = false
    if (!this.#open.has(id) && !this.#done.has(id)) {
      this.#open.set(id, newResponse(this.#input))
      this.#input = newInput()
    }
    return 'begun'
  }

  #delta(kind: 'text' | 'sound', text: string): void {
    const id = responseIdOf(text)
    if (this.#done.has(id)) return
    if (!this.#open.has(id)) this.#begin(id)
    const response = this.#open.get(id)
    if (!response) return
    const delta = writtenField(text, 'delta')
    if (kind === 'sound') {
      const seconds = bytesOfBase64(delta) / this.#sound.output
      response.soundSeconds += seconds
      this.unseenTokens += seconds * spokenPerSecond
      return
    }
    response.written.push(delta)
    response.pieces++
    response.characters += delta.length
    this.unseenTokens += Math.max(1, delta.length / charactersPerToken)
  }

  #end(response: JsonObject): 'done' | undefined {
    const id = idIn(response)
    // A response is counted once, however often its end is reported.
    if (id !== '' && this.#done.has(id)) return undefined
    const open = this.#open.get(id) ?? this.#open.get('') ?? newResponse(newInput())
    this.#open.delete(id)
    this.#open.delete('')
    if (id !== '') this.#done.add(id)
    const usage = readRealtimeUsage(response['usage'])
    const fault = usage && (this.#faultOf(usage) ?? tooLittle(usage, open))
    if (usage && fault === undefined) {
      this.#reported.push(usage)
      this.#context = contextAfter(usage)
      return 'done'
    }
    if (fault !== undefined) this.refused = fault
    else if (isObject(response['usage'])) this.refused = 'not whole, or contradicting itself'
    // If a response failed or was cancelled before any output, the upstream does not charge for it and reports no
    // usage.
    const hasFailed = response['status'] === 'failed' || response['status'] === 'cancelled'
    if (fault !== undefined || !hasFailed || open.pieces > 0 || open.soundSeconds > 0) this.#unreported.push(open)
    return 'done'
  }

  #transcribed(text: string): 'done' | undefined {
    const event = tryParse(text)
    if (!isObject(event)) return undefined
    const id = `transcription ${String(event['item_id'])} ${String(event['content_index'])}`
    if (this.#done.has(id)) return undefined
    this.#done.add(id)
    const raw = event['usage']
    const usage = readRealtimeUsage(raw)
    const seconds = isObject(raw) ? raw['seconds'] : undefined
    const hasSeconds = typeof seconds === 'number' && seconds >= 0 && seconds < longestSessionSeconds
    this.transcriptions++
    this.beside += this.#priceOf({
      model: this.#transcriptionModel,
      text: typeof event['transcript'] === 'string' ? event['transcript'] : '',
      ...(usage && this.#faultOf(usage) === undefined && { usage }),
      ...(hasSeconds && { seconds }),
    })
    return 'done'
  }

  #leastOf({ pieces, characters, soundSeconds }: OpenResponse): Usage {
    const sound = Math.ceil(soundSeconds * spokenPerSecond)
    const text = Math.max(pieces, Math.ceil(characters / charactersPerToken))
    return { ...this.#known(), completionTokens: text + sound, audioCompletionTokens: sound }
  }

  /** The usage for the part of the next prompt that the upstream has already read, and therefore has in its cache. */
  #known(): Usage {
    const { promptTokens, audioPromptTokens = 0 } = this.#context
    return {
      promptTokens,
      completionTokens: 0,
      audioPromptTokens,
      cachedTokens: promptTokens,
      cachedAudioTokens: audioPromptTokens,
    }
  }

  #mostOf(response: OpenResponse): Usage {
    const { input } = response
    const heard = Math.ceil(input.soundSeconds * heardPerSecond)
    const { completionTokens, audioCompletionTokens = 0 } = this.#leastOf(response)
    return {
      promptTokens: this.#context.promptTokens + heard + Math.ceil(input.characters / 3),
      audioPromptTokens: (this.#context.audioPromptTokens ?? 0) + heard,
      completionTokens,
      audioCompletionTokens,
    }
  }

  async #countOf({ input, written, soundSeconds }: OpenResponse, count: CountTexts): Promise<Usage> {
    const contents = input.events.map(contentIn)
    const [read, answered] = await Promise.all([
      count(contents.flatMap(({ texts }) => texts)),
      count([written.map(readWritten).join('')]),
    ])
    const images = contents.reduce((sum, each) => sum + each.images, 0) * tokensPerImage
    const heard = Math.ceil(input.soundSeconds * heardPerSecond)
    const spoken = Math.ceil(soundSeconds * spokenPerSecond)
    const known = this.#known()
    return {
      ...known,
      promptTokens: known.promptTokens + read + heard + images,
      audioPromptTokens: (known.audioPromptTokens ?? 0) + heard,
      ...(images > 0 && { imagePromptTokens: images }),
      completionTokens: answered + spoken,
      audioCompletionTokens: spoken,
    }
  }
}

function newInput(): CallerInput {
  return { events: [], characters: 0, soundSeconds: 0 }
}

function newResponse(input: CallerInput): OpenResponse {
  return { input, written: [], pieces: 0, characters: 0, soundSeconds: 0 }
}

function contextAfter(usage: Usage): Usage {
  const sound = (usage.audioPromptTokens ?? 0) + (usage.audioCompletionTokens ?? 0)
  return {
    promptTokens: usage.promptTokens + usage.completionTokens,
    completionTokens: 0,
    ...(sound > 0 && { audioPromptTokens: sound }),
  }
}

/** A report of zero is not believed if there was output. */
function tooLittle({ promptTokens, completionTokens }: Usage, open: OpenResponse): string | undefined {
  const hasSaid = open.characters > 0 || open.soundSeconds > 0
  if (hasSaid && completionTokens === 0) return 'no completion tokens'
  if (hasSaid && promptTokens === 0) return 'no prompt tokens'
  return undefined
}

function responseIn(text: string): JsonObject {
  const event = tryParse(text)
  return isObject(event) && isObject(event['response']) ? event['response'] : {}
}

function idIn(response: JsonObject): string {
  return typeof response['id'] === 'string' ? response['id'] : ''
}
