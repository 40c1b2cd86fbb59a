import type { Conversation, MediaPart, Part } from './conversation.ts'

/** Features that some services do not support. The words appear in error messages. */
export type Feature =
  | 'tools'
  | 'images'
  | 'audio'
  | 'documents'
  | 'structured output'
  | 'more than one answer'
  | 'logprobs'
  | 'streaming'

/** The features that a service needs to answer a conversation. Streaming is not included, because we can emulate it. */
export function needsOf(conversation: Conversation): ReadonlySet<Feature> {
  const needs = new Set<Feature>()
  const { tools, toolChoice, format, choices = 1, logprobs, output } = conversation
  if (tools.length > 0 && toolChoice?.mode !== 'none') needs.add('tools')
  if (format?.type === 'schema' || format?.type === 'json') needs.add('structured output')
  if (choices > 1) needs.add('more than one answer')
  if (logprobs) needs.add('logprobs')
  if (output?.modalities.includes('audio')) needs.add('audio')
  for (const message of conversation.messages) for (const part of message.parts) addNeed(part, needs)
  return needs
}

function addNeed(part: Part, needs: Set<Feature>): void {
  if (part.type === 'tool-call') needs.add('tools')
  if (part.type === 'tool-result') {
    needs.add('tools')
    for (const each of part.content) addNeed(each, needs)
  }
  if (part.type === 'native') for (const each of part.parts ?? []) addNeed(each, needs)
  if (part.type === 'media') needs.add(mediaNeed(part))
}

function mediaNeed({ media }: MediaPart): Feature {
  switch (media) {
    case 'audio':
      return 'audio'
    case 'document':
      return 'documents'
    default:
      return 'images'
  }
}
