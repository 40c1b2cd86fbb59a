import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import { encodeFailure } from '../failures/openai-failure.ts'
import type { Citation } from '../neutral/conversation.ts'
import type { Frame, StreamEncoder } from '../neutral/dialect.ts'
import type { PartDetail, ReplyPart, Stop, StreamEvent } from '../neutral/reply.ts'
import { tierOut } from '../wire/service-tier.ts'
import { freeformNames } from '../wire/tool-input.ts'
import { annotationsOf, callOut, completionId, detailsOf, logprobsOut } from './reply.ts'
import { stopOut } from './stop.ts'
import { usageOut } from './usage.ts'
import type { WireChunk, WireLogprobs } from './wire.ts'

/** A part as written so far. If it is a call, `call` is its index among the calls. */
interface WrittenPart {
  part: ReplyPart
  call: number | undefined
  /** Newer text or input that has not been added to the part yet. */
  more: string
  /** A separate list of the part's citations. It is created when citations arrive after the part's start. */
  cited?: Citation[]
}

/** One choice as written so far. Text is kept only if later events need it. */
interface ChoiceState {
  readonly parts: Map<number, WrittenPart>
  calls: number
  stop: Stop | undefined
}

/** Writes a stream of chat completion chunks (OpenAI API reference, "The chat completion chunk object"). */
export class ChunkStreamEncoder implements StreamEncoder {
  readonly #frame: Frame
  readonly #freeform: ReadonlySet<string>
  readonly #choices = new Map<number, ChoiceState>()
  #names: Omit<WireChunk, 'choices'>
  /** The JSON of a chunk of the first choice with content only, split into the JSON before and after the content. */
  #around: readonly [string, string] | undefined
  #usage: Usage | undefined

  constructor(frame: Frame) {
    this.#frame = frame
    this.#freeform = freeformNames(frame.request)
    this.#names = this.#namesOf()
  }

  push(event: StreamEvent): string {
    switch (event.type) {
      case 'start':
        this.#names = this.#namesOf(event.id, event.model, event.createdAtSeconds)
        this.#around = undefined
        this.#usage = event.usage
        return ''
      case 'part':
        return this.#part(event.choice, event.index, event.part)
      case 'delta':
        return this.#delta(event.choice, event.index, event.text)
      case 'detail':
        return this.#detail(event.choice, event.index, event.detail)
      case 'part-end':
        return this.#partEnd(event.choice, event.index)
      case 'stop': {
        const opened = this.#open(event.choice)
        this.#state(event.choice).stop = event.stop
        return opened
      }
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'error':
        return sent(encodeFailure(event.failure, this.#frame.id))
      case 'end':
        return this.#end()
      default:
        return ''
    }
  }

  #namesOf(id?: string, model?: string, createdAtSeconds?: number): Omit<WireChunk, 'choices'> {
    return {
      id: completionId(id ?? this.#frame.id),
      object: 'chat.completion.chunk',
      created: createdAtSeconds ?? this.#frame.createdAtSeconds,
      model: model ?? this.#frame.model,
    }
  }

  #state(choice: number): ChoiceState {
    const state = this.#choices.get(choice) ?? { parts: new Map(), calls: 0, stop: undefined }
    this.#choices.set(choice, state)
    return state
  }

  /** The first chunk of a choice contains the role. */
  #open(choice: number): string {
    if (this.#choices.has(choice)) return ''
    this.#state(choice)
    return this.#chunk(choice, { role: 'assistant', content: '' })
  }

  #chunk(
    choice: number,
    delta: JsonObject,
    reason: string | null = null,
    logprobs: WireLogprobs | null = null,
  ): string {
    const choices = [{ index: choice, delta, logprobs, finish_reason: reason }]
    return written({ ...this.#names, choices, ...(this.#frame.request.wantsStreamUsage && { usage: null }) })
  }

  #part(choice: number, index: number, part: ReplyPart): string {
    const opened = this.#open(choice)
    const state = this.#state(choice)
    if (part.type !== 'tool-call') {
      state.parts.set(index, { part, call: undefined, more: '' })
      const text = this.#text(choice, part, 'text' in part ? (part.text ?? '') : '')
      return (
        opened + text + this.#logprobs(choice, part.type === 'text' ? part.logprobs : []) + this.#media(choice, part)
      )
    }
    const call = state.calls++
    state.parts.set(index, { part, call, more: '' })
    // If free text arrives wrapped in JSON, the call is written at its end, when the JSON is complete and can be
    // decoded.
    if (!part.freeform && this.#freeform.has(part.name)) return opened
    return opened + this.#call(choice, call, part)
  }

  #call(choice: number, call: number, part: ReplyPart & { type: 'tool-call' }): string {
    const toolCall = callOut(part, this.#freeform)
    // The input follows in pieces. If there is none, it is written at the end.
    const fn = toolCall.type === 'function' ? { function: { name: part.name, arguments: part.input } } : {}
    if (this.#frame.request.oldFunctions) return this.#chunk(choice, { function_call: fn.function })
    return this.#chunk(choice, { tool_calls: [{ index: call, ...toolCall, ...fn }] })
  }

  #delta(choice: number, index: number, text: string): string {
    const known = this.#state(choice).parts.get(index)
    if (!known || text === '') return ''
    const { part, call } = known
    if (part.type === 'tool-call') {
      known.more += text
      if (call === undefined || this.#freeform.has(part.name)) {
        if (!part.freeform) return ''
        return this.#chunk(choice, { tool_calls: [{ index: call, custom: { input: text } }] })
      }
      const delta = { arguments: text }
      if (this.#frame.request.oldFunctions) return this.#chunk(choice, { function_call: delta })
      return this.#chunk(choice, { tool_calls: [{ index: call, function: delta }] })
    }
    if (part.type === 'media') return part.media === 'audio' ? this.#chunk(choice, { audio: { data: text } }) : ''
    known.more += text
    return this.#text(choice, part, text)
  }

  #text(choice: number, { type }: ReplyPart, text: string): string {
    if (text === '') return ''
    if (type === 'text') return choice === 0 ? this.#plainText(text) : this.#chunk(choice, { content: text })
    if (type === 'refusal') return this.#chunk(choice, { refusal: text })
    return type === 'reasoning' ? this.#chunk(choice, { reasoning_content: text }) : ''
  }

  /** Writes the most common kind of chunk by replacing only the text in it. */
  #plainText(text: string): string {
    this.#around ??= aroundText(this.#chunk(0, { content: '' }))
    return this.#around[0] + JSON.stringify(text) + this.#around[1]
  }

  /** Writes the log probabilities of the most recent text. */
  #logprobs(choice: number, logprobs: readonly JsonObject[] = []): string {
    return logprobs.length > 0 ? this.#chunk(choice, {}, null, logprobsOut(logprobs)) : ''
  }

  #media(choice: number, part: ReplyPart): string {
    if (part.type !== 'media' || part.source.kind !== 'inline' || part.source.data === '') return ''
    const { data, mediaType } = part.source
    if (part.media === 'audio') return this.#chunk(choice, { audio: { data } })
    const image = { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
    return part.media === 'image' ? this.#chunk(choice, { images: [image] }) : ''
  }

  #detail(choice: number, index: number, detail: PartDetail): string {
    const known = this.#state(choice).parts.get(index)
    if (!known) return ''
    const part = whole(known)
    if (detail.seal) known.part = { ...part, seal: detail.seal } as ReplyPart
    if (detail.citations && part.type === 'text') {
      known.cited ??= [...(part.citations ?? [])]
      for (const citation of detail.citations) known.cited.push(citation)
      known.part = { ...part, citations: known.cited }
    }
    const audioChunk = detail.transcript ? this.#chunk(choice, { audio: { transcript: detail.transcript } }) : ''
    return audioChunk + this.#logprobs(choice, detail.logprobs)
  }

  #partEnd(choice: number, index: number): string {
    const known = this.#state(choice).parts.get(index)
    if (!known) return ''
    const part = whole(known)
    const { call } = known
    if (part.type !== 'tool-call' || call === undefined) return this.#seal(choice, index, part)
    return this.#callEnd(choice, known, part, call) + this.#seal(choice, index, part)
  }

  /** Writes the thinking state of a complete part, which a caller must send back unchanged. */
  #seal(choice: number, index: number, part: ReplyPart): string {
    const details = detailsOf([part], index)
    return details.length > 0 ? this.#chunk(choice, { reasoning_details: details }) : ''
  }

  #callEnd(choice: number, known: WrittenPart, part: ReplyPart & { type: 'tool-call' }, call: number): string {
    if (!part.freeform && this.#freeform.has(part.name)) return this.#call(choice, call, part)
    // A call without input gets an empty object as its input.
    if (part.input !== '' || part.freeform) return ''
    known.part = { ...part, input: '{}' }
    const delta = { arguments: '{}' }
    if (this.#frame.request.oldFunctions) return this.#chunk(choice, { function_call: delta })
    return this.#chunk(choice, { tool_calls: [{ index: call, function: delta }] })
  }

  /**
   * The last chunk of each choice. It contains the citations, because their positions are known only when the text is
   * complete.
   */
  #end(): string {
    const opened = this.#choices.size === 0 ? this.#open(0) : ''
    const last = [...this.#choices].map(([choice, { parts, stop }]) => {
      const all = [...parts.values()].map(whole)
      const annotations = annotationsOf(all)
      const delta = annotations.length > 0 ? { annotations } : {}
      return this.#chunk(choice, delta, stopOut(stop ?? { reason: 'stop' }, this.#frame.request.oldFunctions))
    })
    const wantsUsage = this.#frame.request.wantsStreamUsage && this.#usage
    const usage = wantsUsage
      ? written({ ...this.#names, choices: [], usage: usageOut(wantsUsage), ...tierOut(wantsUsage) })
      : ''
    return `${opened}${last.join('')}${usage}data: [DONE]\n\n`
  }
}

function written(chunk: WireChunk): string {
  return sent(chunk)
}

function sent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

/** A part with the newer text or input added. */
function whole(known: WrittenPart): ReplyPart {
  const { part, more } = known
  if (more === '') return part
  known.more = ''
  if (part.type === 'tool-call') known.part = { ...part, input: part.input + more }
  else if ('text' in part) known.part = { ...part, text: `${part.text ?? ''}${more}` } as ReplyPart
  return known.part
}

/** Splits a chunk with an empty text at the position of that text. */
function aroundText(chunk: string): readonly [string, string] {
  const mark = '"delta":{"content":""'
  const at = chunk.indexOf(mark) + mark.length
  return [chunk.slice(0, at - 2), chunk.slice(at)]
}
