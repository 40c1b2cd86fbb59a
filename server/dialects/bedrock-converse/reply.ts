import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import type { Citation, ReasoningPart, Seal } from '../neutral/conversation.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Reply, ReplyPart, Stop, StopReason } from '../neutral/reply.ts'

/** A Converse response (Bedrock API reference). It has no id. A response without a message has no choices. */
export function decodeReply(wire: JsonObject): Reply {
  const { message } = looseObject(wire['output'])
  const usage = usageIn(wire['usage'])
  return {
    choices: isObject(message)
      ? [{ parts: looseList(message['content']).flatMap(blockIn), stop: stopIn(wire['stopReason']) }]
      : [],
    ...(usage && { usage }),
  }
}

function blockIn(block: JsonObject): ReplyPart[] {
  const { text, toolUse, reasoningContent, citationsContent, image } = block
  if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }]
  if (isObject(toolUse)) {
    // The service ran this tool itself and has the result, so the caller must not run it.
    if (toolUse['type'] === 'server_tool_use') return []
    const input = stringify(isObject(toolUse['input']) ? toolUse['input'] : {})
    return [{ type: 'tool-call', id: looseText(toolUse['toolUseId']), name: looseText(toolUse['name']), input }]
  }
  if (isObject(reasoningContent)) return [thoughtIn(reasoningContent)]
  if (isObject(citationsContent)) {
    const citedText = looseList(citationsContent['content'])
      .map((each) => looseText(each['text']))
      .join('')
    const citations = looseList(citationsContent['citations']).map(citationIn)
    return [{ type: 'text', text: citedText, ...(citations.length > 0 && { citations }) }]
  }
  if (isObject(image)) {
    const data = looseText(looseObject(image['source'])['bytes'])
    const mediaType = `image/${looseText(image['format']) || 'png'}`
    return data === '' ? [] : [{ type: 'media', media: 'image', source: { kind: 'inline', data, mediaType } }]
  }
  return []
}

function thoughtIn(content: JsonObject): ReasoningPart {
  const redacted = looseText(content['redactedContent'])
  if (redacted !== '') return { type: 'reasoning', text: '', redacted: true, seal: sealIn(redacted) }
  const thought = looseObject(content['reasoningText'])
  const signature = looseText(thought['signature'])
  return { type: 'reasoning', text: looseText(thought['text']), ...(signature && { seal: sealIn(signature) }) }
}

/** On Bedrock only Anthropic's models sign their reasoning. Anthropic's own API accepts these signatures too. */
export function sealIn(value: string): Seal {
  return { from: 'anthropic-messages', value }
}

/** One citation. If the source is a document and not a web page, only its name is known. */
export function citationIn(citation: JsonObject): Citation {
  const source = looseText(citation['source'])
  const url = looseText(looseObject(looseObject(citation['location'])['web'])['url'])
  const address = url || (/^https?:/.test(source) ? source : '')
  const title = looseText(citation['title'])
  const quote = looseList(citation['sourceContent'])
    .map((each) => looseText(each['text']))
    .join('')
  return { ...(address && { url: address }), ...(title && { title }), ...(quote && { quote }) }
}

const reasons: Readonly<Record<string, StopReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
  model_context_window_exceeded: 'context-window',
  malformed_model_output: 'malformed-call',
  malformed_tool_use: 'malformed-call',
  refusal: 'refusal',
  pause_turn: 'pause',
}

/** `stopReason` → Stop. */
export function stopIn(reason: unknown): Stop {
  return { reason: reasons[looseText(reason)] ?? 'other' }
}

/**
 * `usage` → Usage. Tokens read from and written to the cache are counted in addition to `inputTokens`, as the service's
 * total shows. Undefined if a total is missing or is not a valid count.
 */
export function usageIn(raw: unknown): Usage | undefined {
  const usage = looseObject(raw)
  const { inputTokens: input, outputTokens: output } = usage
  if (!isCount(input) || !isCount(output)) return undefined
  const cachedTokens = looseCount(usage['cacheReadInputTokens'] ?? usage['cacheReadInputTokenCount'])
  const cacheWriteTokens = looseCount(usage['cacheWriteInputTokens'] ?? usage['cacheWriteInputTokenCount'])
  const beside = cachedTokens + cacheWriteTokens
  const isWithin = beside > 0 && beside <= input && usage['totalTokens'] === input + output
  const cacheWrite1hTokens = looseList(usage['cacheDetails'])
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, each) => sum + looseCount(each['inputTokens']), 0)
  const promptTokens = input + (isWithin ? 0 : beside)
  const beyond = Math.max(0, looseCount(usage['totalTokens']) - promptTokens - output)
  return {
    promptTokens,
    completionTokens: output + beyond,
    ...(beyond > 0 && {
      doubt: `${beyond} tokens of the total are neither prompt nor completion: charged as completion`,
    }),
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWrite1hTokens > 0 && cacheWrite1hTokens <= cacheWriteTokens && { cacheWrite1hTokens }),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
