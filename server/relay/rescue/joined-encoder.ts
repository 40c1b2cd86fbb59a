import type { Usage } from '../../../contract/usage.ts'
import type { Citation } from '../../dialects/neutral/conversation.ts'
import type { StreamEncoder } from '../../dialects/neutral/dialect.ts'
import type { PartDetail, ReplyPart, StreamEvent } from '../../dialects/neutral/reply.ts'
import { addedUsage } from '../charging/charging-after.ts'
import { Seam } from './seam.ts'
import type { Told } from './told.ts'

/** The state of one attempt that continues an answer. */
interface Joining {
  readonly usage: Usage
  readonly seam: Seam
  /**
   * The length, in UTF-16 code units, of the text that this attempt's first text part is appended to; 0 if that part
   * is a new part of the answer. It is added to the ranges of the citations in that part.
   */
  before: number
  /** Maps the index of each part of the attempt to its index in the answer; undefined = the part is dropped. */
  readonly places: Map<number, number | undefined>
  /** The index of the part whose text is joined to the earlier text by `seam`. */
  joined: number | undefined
  hasJoined: boolean
}

/**
 * Joins the output of several successive attempts into one answer. The first attempt is written unchanged. The text of
 * a later attempt is appended to the last text part of the answer. The reasoning of a later attempt is dropped if the
 * answer has begun. The usage that is written is the sum of all attempts.
 */
export class JoinedEncoder implements StreamEncoder {
  readonly #inner: StreamEncoder
  readonly #told: Told
  #joining: Joining | undefined

  constructor(inner: StreamEncoder, told: Told) {
    this.#inner = inner
    this.#told = told
  }

  /**
   * Begins the next attempt. Later calls of `push` must pass the events of that attempt. `usage` is the usage of the
   * earlier attempts. `begunWith` is the text that the model was given as the beginning of its answer.
   */
  goOn(usage: Usage, begunWith: string | undefined): void {
    const { text } = this.#told
    this.#joining = {
      usage,
      seam: new Seam(text, begunWith),
      before: this.#told.openLength,
      places: new Map(),
      joined: undefined,
      hasJoined: false,
    }
  }

  push(event: StreamEvent): string {
    const joining = this.#joining
    return joining ? this.#later(event, joining) : this.#write(event)
  }

  #write(event: StreamEvent): string {
    this.#told.take(event)
    return this.#inner.push(event)
  }

  #later(event: StreamEvent, joining: Joining): string {
    switch (event.type) {
      case 'start':
        // The caller has already received the start of the answer, so only the usage is sent.
        return event.usage ? this.#write({ type: 'usage', usage: addedUsage(joining.usage, event.usage) }) : ''
      case 'usage':
        return this.#write({ type: 'usage', usage: addedUsage(joining.usage, event.usage) })
      case 'part':
        return this.#part(event, joining)
      case 'delta':
        return this.#delta(event.index, event.text, joining)
      case 'detail':
        return this.#detail(event.index, event.detail, joining)
      case 'part-end':
        return this.#partEnd(event.index, joining)
      case 'stop':
      case 'end':
        return this.#flushed(joining) + this.#write(event)
      default:
        return this.#write(event)
    }
  }

  #part({ choice, index, part }: StreamEvent & { type: 'part' }, joining: Joining): string {
    const told = this.#told
    // Drop the reasoning of a later attempt if the caller has already received reasoning or text.
    if (part.type === 'reasoning' && told.parts > 0) {
      joining.places.set(index, undefined)
      return ''
    }
    if (part.type === 'text' && !joining.hasJoined && told.open !== undefined && told.isText) {
      joining.hasJoined = true
      joining.joined = index
      joining.places.set(index, told.open)
      return this.#delta(index, part.text, joining) + this.#first(index, part, joining)
    }
    const before = this.#flushed(joining) + this.#closed(joining)
    const place = told.parts
    joining.places.set(index, place)
    if (part.type === 'text' && !joining.hasJoined) {
      // The part with the earlier text has ended, so the new text begins another part. A repetition at the beginning of
      // the new text is dropped, too.
      joining.hasJoined = true
      joining.joined = index
      joining.before = 0
      const { text } = part
      return (
        before +
        this.#write({ type: 'part', choice, index: place, part: { ...part, text: '' } }) +
        this.#delta(index, text, joining)
      )
    }
    return before + this.#write({ type: 'part', choice, index: place, part })
  }

  /** Writes the citations that a text part contains when it begins. */
  #first(index: number, part: ReplyPart & { type: 'text' }, joining: Joining): string {
    return part.citations ? this.#detail(index, { citations: part.citations }, joining) : ''
  }

  #delta(index: number, text: string, joining: Joining): string {
    const place = joining.places.get(index)
    if (place === undefined) return ''
    const own = index === joining.joined ? joining.seam.add(text) : text
    return own === '' ? '' : this.#write({ type: 'delta', choice: 0, index: place, text: own })
  }

  #detail(index: number, detail: PartDetail, joining: Joining): string {
    const place = joining.places.get(index)
    if (place === undefined) return ''
    // In the part that continues earlier text, drop the signature. It is not valid for the whole text, because another
    // service generated the beginning.
    const { seal: _seal, citations, ...rest } = detail
    const own =
      index === joining.joined ? { ...rest, ...(citations && { citations: moved(citations, joining) }) } : detail
    return this.#write({ type: 'detail', choice: 0, index: place, detail: own })
  }

  #partEnd(index: number, joining: Joining): string {
    const place = joining.places.get(index)
    if (place === undefined) return ''
    const before = index === joining.joined ? this.#flushed(joining) : ''
    return before + this.#write({ type: 'part-end', choice: 0, index: place })
  }

  /** Writes the text that `seam` has held back. */
  #flushed(joining: Joining): string {
    const place = joining.joined === undefined ? undefined : joining.places.get(joining.joined)
    const rest = joining.seam.end()
    joining.joined = undefined
    return place === undefined || rest === '' ? '' : this.#write({ type: 'delta', choice: 0, index: place, text: rest })
  }

  /** Ends the part that the previous attempt left open. */
  #closed({ places }: Joining): string {
    const { open } = this.#told
    if (open === undefined || [...places.values()].includes(open)) return ''
    return this.#write({ type: 'part-end', choice: 0, index: open })
  }
}

/** The citations of the second text, with their ranges moved to their positions in the whole text. */
function moved(citations: readonly Citation[], { before, seam }: Joining): Citation[] {
  const at = (index: number) => Math.max(0, index + before - seam.cut)
  return citations.map((citation) => ({
    ...citation,
    ...(citation.start !== undefined && { start: at(citation.start) }),
    ...(citation.end !== undefined && { end: at(citation.end) }),
  }))
}
