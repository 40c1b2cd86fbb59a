import { GatewayError } from '../../errors.ts'
import type { Outcome } from '../../events.ts'
import { noCode, vanished } from '../../lib/bytes/web-socket-frames.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import type { Lapse } from './silence.ts'
import type { UpstreamClose } from './upstream-socket.ts'

/** Close codes (RFC 6455, section 7.4.1). */
const codes = { normal: 1000, goingAway: 1001, refused: 1008, tooLong: 1009, failed: 1011, tooSlow: 1013 } as const

interface Close {
  code: number
  reason: string
}

/** Why a session ends, and what is sent to the caller and the upstream. */
export interface Ending {
  outcome: Outcome
  /** The error that is sent to the caller as an event and recorded in the log row. */
  error?: GatewayError
  /** Set if the upstream is at fault, which counts against the channel. */
  upstreamFault?: true
  caller: Close
  upstream: Close
  /** Set if the caller does not read, so that nothing can be sent to it. */
  isCut?: true
}

/** The ending of a session that failed or must not continue. */
export function interrupted(error: GatewayError, code: number = codes.failed): Ending {
  return {
    outcome: 'interrupted',
    error,
    caller: { code, reason: error.code },
    upstream: { code: codes.goingAway, reason: '' },
  }
}

/** The ending after a check that no longer allows the caller to continue. */
export function refused(error: GatewayError): Ending {
  return interrupted(error, codes.refused)
}

/** The ending when the quota is used up. */
export function outOfQuota(): Ending {
  return refused(new GatewayError('quota_exhausted_mid_stream', 'the quota ran out during the session'))
}

/** The ending when the caller closed the session or disconnected. */
export function callerClosed(code: number, reason: string, isBusy: boolean): Ending {
  return {
    outcome: isBusy ? 'aborted' : 'complete',
    caller: { code, reason },
    upstream: code === vanished ? { code: codes.goingAway, reason: '' } : { code, reason },
  }
}

/** The ending when the upstream closed the session or disconnected. */
export function upstreamClosed({ code, reason, fault }: UpstreamClose, isBusy: boolean): Ending {
  const isUsual = !fault && (usualCodes.has(code) || (code >= 3000 && code <= 4999))
  if (!isBusy && isUsual) return { outcome: 'complete', caller: { code, reason }, upstream: { code, reason: '' } }
  const error = fault ? wrongly(code) : isUsual ? tooEarly() : new GatewayError('upstream_stream_error', broke)
  const passed = code === vanished || code === noCode || (fault && code !== codes.tooLong) ? codes.failed : code
  const closeReason = fault || reason === '' ? error.code : reason
  return { ...interrupted(error, passed), upstreamFault: true, caller: { code: passed, reason: closeReason } }
}

/**
 * Codes with which an upstream ends a session normally. 1009 is one of them, because it means that the caller's message
 * was too long.
 */
const usualCodes: ReadonlySet<number> = new Set([codes.normal, codes.goingAway, noCode, codes.tooLong])

const broke = 'the connection to the upstream was lost'

function wrongly(code: number): GatewayError {
  const what = code === codes.tooLong ? 'a message that is too long' : 'something that is no message of a WebSocket'
  return new GatewayError('bad_response_body', `the upstream sent ${what}`)
}

function tooEarly(): GatewayError {
  return new GatewayError(
    'upstream_stream_incomplete',
    'the upstream closed the session before its response was complete',
  )
}

/** The ending when this process shuts down. */
export function shutDown(isBusy: boolean): Ending {
  const error = shuttingDown()
  const ending = interrupted(error, codes.goingAway)
  return isBusy ? ending : quiet(error.code)
}

/** The ending when the session, or a wait within the session, lasted too long. */
export function lapsed(lapse: Lapse, isBusy: boolean): Ending {
  switch (lapse) {
    case 'idle':
      return quiet('nothing was said for too long')
    case 'overdue': {
      const reason = 'the session lasted too long'
      return isBusy ? interrupted(new GatewayError('upstream_timeout', reason), codes.goingAway) : quiet(reason)
    }
    case 'unread':
      return {
        outcome: 'aborted',
        caller: { code: codes.tooSlow, reason: 'the caller does not read' },
        upstream: { code: codes.goingAway, reason: '' },
        isCut: true,
      }
    case 'blocked': {
      const error = new GatewayError('upstream_timeout', 'the upstream stopped reading')
      return { ...interrupted(error, codes.tooSlow), upstreamFault: true }
    }
    default:
      return {
        ...interrupted(new GatewayError('upstream_timeout', 'the upstream stopped sending')),
        upstreamFault: true,
      }
  }
}

/** The ending of a session in which no response was in progress, so that no output is lost. */
function quiet(reason: string): Ending {
  return {
    outcome: 'complete',
    caller: { code: codes.goingAway, reason },
    upstream: { code: codes.normal, reason: '' },
  }
}
