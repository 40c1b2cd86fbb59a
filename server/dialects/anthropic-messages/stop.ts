import type { Stop, StopReason } from '../neutral/reply.ts'
import type { WireStopDetails } from './wire.ts'

const dialect = 'anthropic-messages'

/** Stop reasons of the Messages API (Anthropic docs, "Handling stop reasons"). */
const reasons: Readonly<Record<string, StopReason>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  stop_sequence: 'stop-sequence',
  tool_use: 'tool-calls',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context-window',
}

/** `stop_reason` and `stop_sequence` → Stop. */
export function stopIn(reason: unknown, sequence: unknown): Stop {
  const raw = typeof reason === 'string' ? reason : ''
  return {
    reason: reasons[raw] ?? 'other',
    ...(typeof sequence === 'string' && { sequence }),
    ...(raw !== '' && { raw: { dialect, reason: raw } }),
  }
}

/**
 * Stop → `stop_reason`. A reason that Anthropic does not have becomes `end_turn`, or `refusal` if a filter cut the
 * answer off.
 */
export function stopOut(stop: Stop): string {
  if (stop.raw?.dialect === dialect) return stop.raw.reason
  switch (stop.reason) {
    case 'length':
      return 'max_tokens'
    case 'stop-sequence':
      return 'stop_sequence'
    case 'tool-calls':
      return 'tool_use'
    case 'pause':
      return 'pause_turn'
    case 'refusal':
    case 'content-filter':
    case 'malformed-call':
      return 'refusal'
    case 'context-window':
      return 'model_context_window_exceeded'
    default:
      return 'end_turn'
  }
}

/** Stop → `stop_details`, which Anthropic sends only for refusals. */
export function stopDetailsOut(stop: Stop): WireStopDetails {
  if (stopOut(stop) !== 'refusal') return null
  return { type: 'refusal', category: null, explanation: stop.raw?.message ?? null }
}
