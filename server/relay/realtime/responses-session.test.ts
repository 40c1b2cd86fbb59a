import { expect, test } from 'bun:test'
import { systemClock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import { createDeadlineWatch } from '../cancellation/deadline-watch.ts'
import { ResponsesSession, type ServeTurn } from './responses-session.ts'
import { RealtimeSessions } from './sessions.ts'

test.each([true, false])(
  'a turn that is only announced is remembered while its socket is open (%p)',
  async (isOpen) => {
    const watch = createDeadlineWatch(systemClock)
    const sessions = new RealtimeSessions()
    const begins = Promise.withResolvers<void>()
    const served = Promise.withResolvers<void>()
    const serve: ServeTurn = async (text, complete) => {
      await begins.promise
      const json = JSON.parse(text) as JsonObject
      queueMicrotask(() => setImmediate(served.resolve))
      return { id: '1', response: complete({ kind: 'json', json, text }) as Response }
    }
    const parts = { serve, sessions, watch, nowMs: systemClock.nowMs, warn: () => undefined, released: () => undefined }
    const session = new ResponsesSession(parts)
    session.opened({ send: () => true } as never)
    session.message(JSON.stringify({ type: 'response.create', model: 'm', input: 'Be brief.', generate: false }))
    if (!isOpen) session.closed()
    begins.resolve()
    await served.promise
    expect(sessions.memory.find(session, 'resp_1') !== undefined).toBe(isOpen)
    session.closed()
    watch.close()
  },
)
