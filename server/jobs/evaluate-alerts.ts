import { type AlertEvent, alertText } from '../../contract/alert-text.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { tryParse } from '../lib/json.ts'
import type { Settings } from '../settings/settings.ts'
import { alertDestinations } from '../store/accounts/alert-destinations.ts'
import { addAlertEvent, countAlertEvents } from '../store/accounts/alert-history.ts'
import {
  type AlertRuleRow,
  type AlertStateRow,
  activeAlertRules,
  alertStates,
  beginAlertState,
  changeAlertState,
  endAlertState,
} from '../store/accounts/alert-rules.ts'
import { alertRun, beginRun, finishRun } from '../store/installation/job-runs.ts'
import type { Store, Trx } from '../store/store.ts'
import { alertFindings, createLedgerWatch, type Finding } from './alert-findings.ts'
import { createAlertTraffic } from './alert-traffic.ts'
import { alertValues, quietUntil } from './alert-values.ts'

export interface EvaluateAlertsDeps {
  store: Store
  settings: { current(): Settings }
  clock: Clock
}

/**
 * The interval at which one node evaluates the rules. It is a little less than a minute, because timers are not exact.
 */
const everySeconds = 55
/** A rule is resolved when its condition has not applied for this time. */
const clearSeconds = 300
const rulesAtOnce = 500
const hourSeconds = 3600
/** The maximum number of messages that an owner's rules send in an hour. Further messages are recorded but not sent. */
const mostPerHour = { own: 20, installation: 60 }

/** Evaluates all rules if this is due and no other node is doing it. Returns false if it did nothing. */
export function createAlertEvaluation({ store, settings, clock }: EvaluateAlertsDeps): () => Promise<boolean> {
  const traffic = createAlertTraffic()
  const ledger = createLedgerWatch()
  let begunAt = Number.NEGATIVE_INFINITY
  return async () => {
    const now = epochSeconds(clock)
    // This process began the last run less than `everySeconds` ago, so no run is due on any node. The database need not
    // be queried.
    if (now >= begunAt && now - begunAt < everySeconds) return false
    if (!(await store.write((trx) => beginRun(trx, alertRun, now, everySeconds)))) return false
    begunAt = now
    try {
      let isRead = false
      for (let after = 0; ; ) {
        const rules = await activeAlertRules(store.read, { after, limit: rulesAtOnce })
        if (rules.length === 0) return true
        after = rules.at(-1)?.id ?? after
        if (!isRead && rules.some(({ kind }) => readsTraffic.has(kind))) {
          await traffic.update(store.read, now)
          isRead = true
        }
        const deps = { db: store.read, settings: settings.current(), now, traffic, ledger }
        const found = await alertFindings(rules, deps)
        const states = Map.groupBy(
          await alertStates(
            store.read,
            rules.map(({ id }) => id),
          ),
          ({ rule_id }) => rule_id,
        )
        for (const rule of rules)
          await applyFindings({ store, settings: settings.current(), now }, rule, {
            findings: found.get(rule.id) ?? [],
            states: states.get(rule.id) ?? [],
          })
      }
    } finally {
      await store.write((trx) => finishRun(trx, alertRun, epochSeconds(clock)))
    }
  }
}

const readsTraffic: ReadonlySet<string> = new Set([
  'error_rate',
  'channel_error_rate',
  'first_byte_p95',
  'own_error_rate',
])

interface Apply {
  store: Store
  settings: Settings
  now: number
}

/** Compares the findings of a rule with its stored states, and records the changes. */
async function applyFindings(
  apply: Apply,
  rule: AlertRuleRow,
  { findings, states }: { findings: readonly Finding[]; states: readonly AlertStateRow[] },
): Promise<void> {
  const known = new Map(states.map((state) => [state.target, state]))
  const now = new Map(findings.map((finding) => [finding.target, finding]))
  for (const finding of findings)
    if (finding.state === 'fires' && !known.has(finding.target)) await fire(apply, rule, finding)
  for (const state of states) {
    const finding = now.get(state.target)
    if (finding) await keepFiring(apply, rule, state, finding)
    else await calmDown(apply, rule, state)
  }
}

async function fire({ store, settings, now }: Apply, rule: AlertRuleRow, finding: Finding): Promise<void> {
  const { target, name, value } = finding
  await store.write(async (trx) => {
    const state = { rule_id: rule.id, target, name, since: now, clear_since: 0, value, sent_at: now }
    if (await beginAlertState(trx, state))
      await announce(trx, rule, { event: 'firing', target, name, value, now }, settings)
  })
}

async function keepFiring(
  { store, settings, now }: Apply,
  rule: AlertRuleRow,
  state: AlertStateRow,
  { name, value }: Finding,
): Promise<void> {
  const isDue = rule.remind_hours > 0 && now - state.sent_at >= rule.remind_hours * hourSeconds
  if (!isDue && state.clear_since === 0 && state.value === value && state.name === name) return
  await store.write(async (trx) => {
    const fields = { name, value, clear_since: 0, ...(isDue && { sent_at: now }) }
    if (!(await changeAlertState(trx, state, fields)) || !isDue) return
    await announce(trx, rule, { event: 'reminder', target: state.target, name, value, now }, settings)
  })
}

async function calmDown({ store, settings, now }: Apply, rule: AlertRuleRow, state: AlertStateRow): Promise<void> {
  if (state.clear_since === 0) {
    await store.write((trx) => changeAlertState(trx, state, { clear_since: now }))
    return
  }
  if (now - state.clear_since < clearSeconds) return
  await store.write(async (trx) => {
    if (!(await endAlertState(trx, state)) || !rule.send_resolved) return
    const { target, name, value } = state
    await announce(trx, rule, { event: 'resolved', target, name, value, now }, settings)
  })
}

interface Happening {
  event: AlertEvent
  target: string
  name: string
  value: number
  now: number
}

/**
 * Records a message and one delivery for each destination. During quiet hours, the deliveries are held until the quiet
 * hours end.
 */
async function announce(trx: Trx, rule: AlertRuleRow, what: Happening, settings: Settings): Promise<void> {
  const { event, target, name, now } = what
  const most = rule.owner_id === 0 ? mostPerHour.installation : mostPerHour.own
  const isTooMany = (await countAlertEvents(trx, rule.owner_id, now - hourSeconds, most)) >= most
  const wanted = destinationIds(rule)
  const destinations = (await alertDestinations(trx, rule.owner_id)).filter(({ id }) => wanted.includes(id))
  const about = { kind: rule.kind, event, language: rule.language }
  const { title, text } = alertText(rule, about, alertValues(rule, what, settings))
  const quiet = quietUntil(rule, now)
  await addAlertEvent(
    trx,
    {
      owner_id: rule.owner_id,
      rule_id: rule.id,
      rule_name: rule.name,
      event,
      target: name || target,
      title,
      text,
      created_at: now,
    },
    destinations.map((destination) => ({
      destination_id: destination.id,
      destination: destination.name,
      kind: destination.kind,
      ...(isTooMany
        ? { status: 'failed' as const, next_at: 0, error: `More than ${most} messages in an hour.` }
        : { status: quiet === undefined ? ('waiting' as const) : ('held' as const), next_at: quiet ?? now }),
    })),
  )
}

/** The destinations of a rule. */
export function destinationIds({ destinations }: Pick<AlertRuleRow, 'destinations'>): number[] {
  const ids = tryParse(destinations)
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : []
}
