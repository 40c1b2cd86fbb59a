import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Citation } from '../conversation.ts'
import { looseCount, looseList, looseObject, looseText } from '../fields.ts'
import type { Reply, ReplyPart, Stop, StopReason } from '../reply.ts'

/** A Chat response of Cohere's (API reference, "Chat", version 2); without a message it holds no answer. */
export function decodeReply(wire: JsonObject): Reply {
  const message = looseObject(wire['message'])
  const usage = usageIn(wire['usage'])
  const id = looseText(wire['id'])
  const plan = looseText(message['tool_plan'])
  const cited = looseList(message['citations'])
  const content = looseList(message['content']).flatMap((block, index) => {
    const part = contentIn(block)
    if (part?.type !== 'text') return part ?? []
    const own = cited.filter(
      (each) => looseCount(each['content_index']) === index || each['content_index'] === undefined,
    )
    const citations = own.map((each) => citationIn(each, part.text))
    return { ...part, ...(citations.length > 0 && { citations }) }
  })
  const calls = looseList(message['tool_calls']).map((call): ReplyPart => {
    const called = looseObject(call['function'])
    const input = looseText(called['arguments']) || '{}'
    return { type: 'tool-call', id: looseText(call['id']), name: looseText(called['name']), input }
  })
  const thought: ReplyPart[] = plan === '' ? [] : [{ type: 'reasoning', text: plan }]
  return {
    ...(id && { id }),
    choices: isObject(wire['message'])
      ? [{ parts: [...thought, ...content, ...calls], stop: stopIn(wire['finish_reason']) }]
      : [],
    ...(usage && { usage }),
  }
}

/** One piece of an answer's content; undefined for what is neither text nor thought. */
export function contentIn(block: JsonObject): Extract<ReplyPart, { type: 'text' | 'reasoning' }> | undefined {
  if (block['type'] === 'thinking' || typeof block['thinking'] === 'string')
    return { type: 'reasoning', text: looseText(block['thinking']) }
  return typeof block['text'] === 'string' ? { type: 'text', text: block['text'] } : undefined
}

/** One citation. Cohere counts in characters, which are not the text's units where it has signs beyond the usual ones. */
export function citationIn(citation: JsonObject, text: string): Citation {
  const [source] = looseList(citation['sources'])
  const document = looseObject(source?.['document'])
  const url = looseText(document['url']) || looseText(document['uri'])
  const title = looseText(document['title'])
  const quote = looseText(document['text']) || looseText(document['snippet'])
  return {
    ...(url && { url }),
    ...(title && { title }),
    ...(quote && { quote }),
    ...spanIn(citation, text),
  }
}

function spanIn(citation: JsonObject, text: string): { start: number; end: number } {
  const start = looseCount(citation['start'])
  const end = looseCount(citation['end'])
  const cited = looseText(citation['text'])
  if (cited === '' || text.slice(start, end) === cited) return { start, end }
  const units = (characters: number) => [...text].slice(0, characters).join('').length
  const found = text.slice(units(start), units(end)) === cited ? units(start) : text.indexOf(cited)
  return found < 0 ? { start, end } : { start: found, end: found + cited.length }
}

const reasons: Readonly<Record<string, StopReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop-sequence',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR_TOXIC: 'content-filter',
  ERROR_LIMIT: 'context-window',
}

/** `finish_reason` → Stop. */
export function stopIn(reason: unknown): Stop {
  return { reason: reasons[looseText(reason)] ?? 'other' }
}

/**
 * `usage` → Usage: the tokens that were used, images beside them; where they are not told, those that are billed.
 * Undefined where there are neither.
 */
export function usageIn(raw: unknown): Usage | undefined {
  const usage = looseObject(raw)
  const used = looseObject(usage['tokens'])
  const counts = typeof used['input_tokens'] === 'number' ? used : looseObject(usage['billed_units'])
  const { input_tokens: input, output_tokens: output = 0 } = counts
  if (!isCount(input) || !isCount(output)) return undefined
  const images = looseCount(counts['image_tokens'])
  const cachedTokens = looseCount(usage['cached_tokens'])
  const reasoningTokens = looseCount(counts['reasoning_tokens'])
  return {
    promptTokens: input + images,
    completionTokens: output,
    ...(cachedTokens > 0 && cachedTokens <= input && { cachedTokens }),
    ...(images > 0 && { imagePromptTokens: images }),
    ...(reasoningTokens > 0 && reasoningTokens <= output && { reasoningTokens }),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
