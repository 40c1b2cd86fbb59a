import type { Stop, StopReason } from '../neutral/reply.ts'

const dialect = 'gemini'

/** Finish reasons for an answer that was cut off by one of Google's filters or rules (Gemini API, "FinishReason"). */
const filtered: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

const malformed: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
])

/** `finishReason` → Stop. Google reports STOP even if the answer contains calls. */
export function stopIn(reason: string, message: string, hasCalls: boolean): Stop {
  const raw = { dialect, reason, ...(message && { message }) } as const
  return { reason: reasonOf(reason, hasCalls), raw }
}

function reasonOf(reason: string, hasCalls: boolean): StopReason {
  if (reason === 'STOP') return hasCalls ? 'tool-calls' : 'stop'
  if (reason === 'MAX_TOKENS') return 'length'
  if (filtered.has(reason)) return 'content-filter'
  return malformed.has(reason) ? 'malformed-call' : 'other'
}

/** Stop → `finishReason`. */
export function stopOut(stop: Stop): string {
  if (stop.raw?.dialect === dialect) return stop.raw.reason
  switch (stop.reason) {
    case 'length':
    case 'context-window':
    // The answer was paused so that the caller can continue it. It is therefore not complete.
    case 'pause':
      return 'MAX_TOKENS'
    case 'refusal':
    case 'content-filter':
      return 'SAFETY'
    case 'malformed-call':
      return 'MALFORMED_FUNCTION_CALL'
    case 'other':
      return 'OTHER'
    default:
      return 'STOP'
  }
}

/** The stop reason for a prompt that Google refused. Such a response has no candidate. */
export function blockedStop(reason: string, message: string): Stop {
  return { reason: 'content-filter', raw: { dialect, reason, ...(message && { message }) } }
}
