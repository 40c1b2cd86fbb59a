import type { Stop, StopReason } from '../neutral/reply.ts'

const dialect = 'openai-chat'

const reasons: Readonly<Record<string, StopReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  // The values below are sent by services other than OpenAI.
  eos: 'stop',
  end_turn: 'stop',
  model_length: 'length',
  max_tokens: 'length',
  sensitive: 'content-filter',
  error: 'other',
}

/** `finish_reason` → Stop. */
export function stopIn(reason: string): Stop {
  return { reason: reasons[reason] ?? 'other', raw: { dialect, reason } }
}

/** Stop → `finish_reason`. A reason for which OpenAI has no value becomes "error", which other services also send. */
export function stopOut(stop: Stop, oldFunctions: boolean | undefined): string {
  if (stop.raw?.dialect === dialect) return stop.raw.reason
  switch (stop.reason) {
    case 'length':
    case 'context-window':
    // The answer was paused so that the caller can continue it. It is therefore not complete.
    case 'pause':
      return 'length'
    case 'tool-calls':
      return oldFunctions ? 'function_call' : 'tool_calls'
    case 'content-filter':
      return 'content_filter'
    case 'refusal':
      // A refusal by Anthropic's classifiers cuts the answer off. A model that refuses on its own ends its turn
      // normally.
      return stop.raw?.dialect === 'anthropic-messages' ? 'content_filter' : 'stop'
    case 'malformed-call':
    case 'other':
      return 'error'
    default:
      return 'stop'
  }
}
