import type { z } from 'zod/mini'
import { longestCaptureSeconds, mostCaptureChoices, mostCaptureRules } from '../../../contract/api/capture.ts'
import { api } from '../../../contract/api/index.ts'
import { RecordedElsewhere } from '../../captures/recorded-elsewhere.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { messageOf } from '../../lib/message-of.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import {
  addCaptureRule,
  type CaptureRuleRow,
  captureChoices,
  captureTargetName,
  endCaptureRule,
  listCaptureRules,
  ownTokensAmong,
} from '../../store/installation/captures.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'

type CaptureApiDeps = Pick<ApiDeps, 'store' | 'clock' | 'captures'> & { announce: Announce }

/** Recording of requests: the rules, and the recorded content. */
export function mountCaptures(router: ApiRouter, deps: CaptureApiDeps): void {
  const { store, clock, captures, announce } = deps

  serve(router, api.capture.rules, async () => (await listCaptureRules(store.read)).map(ruleView))

  serve(router, api.capture.addRule, async (call) => {
    const { body, person } = call
    const now = epochSeconds(clock)
    checkRule(body, now)
    if (captures.rules.running().length >= mostCaptureRules)
      throw new ApiFailure(`At most ${mostCaptureRules} rules can run at the same time. End one first.`)
    await captures.testStorage().catch((error: unknown) => {
      if (error instanceof RecordedElsewhere)
        throw new ApiFailure(`This recording is a file on the node ${error.node}, and can be read only there.`)
      const reason = messageOf(error)
      throw new ApiFailure(`Recordings cannot be stored: ${reason}.`)
    })
    const row = await store.write(async (trx) => {
      await call.admitAgain(trx)
      const target_name = await captureTargetName(trx, body.target, body.target_id)
      if (target_name === undefined) throw new ApiFailure(`The ${body.target} ${body.target_id} was not found.`)
      const { target, target_id, until, redactions, size_limit } = body
      const rule = await addCaptureRule(trx, {
        ...{ target, target_id, target_name, until, redactions, size_limit },
        created_at: now,
        created_by: person.id,
        created_by_name: person.username,
      })
      const detail = `until=${new Date(until * 1000).toISOString()} redactions=${redactions.length} size_limit=${size_limit}`
      await recordAudit(trx, auditEvent(clock, call, 'capture.start', `${target} ${target_id}`, detail))
      return rule
    })
    await announce({ topic: 'capture', id: row.id })
    return ruleView({ ...row, captured: 0 })
  })

  serve(router, api.capture.endRule, async (call) => {
    const { id } = call.params
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      const rule = await endCaptureRule(trx, id, epochSeconds(clock))
      if (!rule) throw new ApiFailure('Recording rule not found.')
      if (!rule.hadEnded)
        await recordAudit(trx, auditEvent(clock, call, 'capture.end', `${rule.target} ${rule.target_id}`))
    })
    await announce({ topic: 'capture', id })
    const rule = (await listCaptureRules(store.read)).find((each) => each.id === id)
    if (!rule) throw new ApiFailure('Recording rule not found.')
    return ruleView(rule)
  })

  serve(router, api.capture.own, async ({ person }) => {
    const running = captures.rules.running()
    const latest = (rules: readonly CaptureRuleRow[]) => Math.max(0, ...rules.map(({ until }) => until))
    const ofTokens = running.filter(({ target }) => target === 'token')
    const ids = [...new Set(ofTokens.map(({ target_id }) => target_id))]
    const own = await ownTokensAmong(store.read, person.id, ids)
    return {
      until: latest(running.filter(({ target, target_id }) => target === 'user' && target_id === person.id)),
      some_until: latest(running.filter(({ target }) => target === 'channel')),
      tokens: own.map((id) => ({ id, until: latest(ofTokens.filter(({ target_id }) => target_id === id)) })),
    }
  })

  serve(router, api.capture.choices, ({ query: { target, keyword, id } }) =>
    captureChoices(store.read, { target, keyword: keyword.trim(), id, limit: mostCaptureChoices }),
  )

  serve(router, api.capture.read, async (call) => {
    const { request_id } = call.params
    const capture = await captures.read(request_id).catch((error: unknown) => {
      if (error instanceof RecordedElsewhere)
        throw new ApiFailure(`This recording is a file on the node ${error.node}, and can be read only there.`)
      const reason = messageOf(error)
      throw new ApiFailure(`The recording cannot be read: ${reason}.`)
    })
    if (!capture) return null
    // The audit row is written before the recording is returned.
    await store.write((trx) => recordAudit(trx, auditEvent(clock, call, 'capture.read', `request ${request_id}`)))
    return capture
  })
}

function checkRule({ until }: z.output<typeof api.capture.addRule.body>, now: number): void {
  if (until <= now) throw new ApiFailure('until must be in the future.')
  if (until > now + longestCaptureSeconds) throw new ApiFailure('until must be at most 7 days from now.')
}

function ruleView({ redactions, ...rule }: CaptureRuleRow & { captured: number }) {
  return { ...rule, redactions: [...redactions] }
}
