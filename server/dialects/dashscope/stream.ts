import type { JsonObject } from '../../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import { GrowingText } from './growing-text.ts'
import { choicesOf, type RawChoice, sourcesIn, usageIn } from './reply.ts'

/** Creates the reader of one stream, which converts events to chunks. */
export function chunkReader(): (event: JsonObject) => JsonObject[] {
  const texts = new Map<string, GrowingText>()
  let sources: JsonObject = {}
  const grown = (name: string, text: unknown, isLast: boolean) => {
    const growing = texts.get(name) ?? new GrowingText()
    texts.set(name, growing)
    return growing.push(looseText(text), isLast)
  }

  function deltaOf({ index, message, reason }: RawChoice): JsonObject {
    const isLast = reason !== undefined
    const calls = looseList(message['tool_calls']).map((call, at) => {
      const number = typeof call['index'] === 'number' ? looseCount(call['index']) : at
      const { name, arguments: input } = looseObject(call['function'])
      const id = looseText(call['id'])
      const text = grown(`${index} call ${number}`, input, isLast)
      return { index: number, ...(id && { id }), type: 'function', function: { name, arguments: text } }
    })
    return {
      role: 'assistant',
      reasoning_content: grown(`${index} thought`, message['reasoning_content'], isLast),
      content: grown(`${index} text`, message['content'], isLast),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(message['images'] !== undefined && { images: message['images'] }),
      // The service sends the sources before the text. They are added to the last event, when the text is complete.
      ...(index === 0 && isLast && sources),
    }
  }

  return (event) => {
    const newSources = sourcesIn(event)
    if ('annotations' in newSources) sources = newSources
    const choices = choicesOf(event).map((choice) => ({
      index: choice.index,
      delta: deltaOf(choice),
      logprobs: choice.logprobs,
      finish_reason: choice.reason ?? null,
    }))
    return [{ id: event['request_id'], choices, usage: usageIn(event['usage']) }]
  }
}
