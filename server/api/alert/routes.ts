import {
  type AlertDestination,
  type AlertHistory,
  alertCalls,
  mostDestinations,
  mostRules,
} from '../../../contract/api/alert.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { openAddress, sealAddress } from '../../jobs/alert-sender.ts'
import { epochSeconds } from '../../lib/clock.ts'
import {
  type AlertDestinationRow,
  addAlertDestination,
  alertDestination,
  alertDestinations,
  deleteAlertDestination,
  installationOwner,
  updateAlertDestination,
} from '../../store/accounts/alert-destinations.ts'
import { type AlertHistoryRow, listAlertHistory } from '../../store/accounts/alert-history.ts'
import {
  addAlertRule,
  alertRules,
  alertStatesOf,
  countAlertRows,
  deleteAlertRule,
} from '../../store/accounts/alert-rules.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { changeRule } from './change-rule.ts'
import { changedAddress, newAddress } from './destination-input.ts'
import { newRule, ruleView } from './rule-input.ts'
import { testDestination } from './test-destination.ts'

type AlertDeps = Pick<ApiDeps, 'store' | 'secrets' | 'clock' | 'settings' | 'sendAlert'>

/** One of the two sets of endpoints: for the installation's rules and destinations, or for the caller's own. */
interface Scope {
  calls: (typeof alertCalls)['own' | 'installation']
  mostRules: number
  mostDestinations: number
  ownerOf(person: { id: number }): number
}

const scopes: readonly Scope[] = [
  {
    calls: alertCalls.installation,
    mostRules: mostRules.installation,
    mostDestinations: mostDestinations.installation,
    ownerOf: () => installationOwner,
  },
  {
    calls: alertCalls.own,
    mostRules: mostRules.own,
    mostDestinations: mostDestinations.own,
    ownerOf: ({ id }) => id,
  },
]

/**
 * The endpoints of alert rules. Admins can use those for the installation's rules, and everybody those for their own.
 * For the rule of another person, the response is the same as for a missing rule.
 */
export function mountAlerts(router: ApiRouter, deps: AlertDeps): void {
  for (const scope of scopes) {
    mountRules(router, deps, scope)
    mountDestinations(router, deps, scope)
    serve(router, scope.calls.history, async ({ person, query, context }) => {
      const page = await listAlertHistory(deps.store.read, scope.ownerOf(person), pageOf(query))
      return listed(context, page).map(historyView)
    })
  }
}

function mountRules(router: ApiRouter, { store, clock }: AlertDeps, { calls, ownerOf, ...most }: Scope): void {
  serve(router, calls.rules, async ({ person }) => {
    const owner = ownerOf(person)
    const [rules, states] = await Promise.all([alertRules(store.read, owner), alertStatesOf(store.read, owner)])
    return rules.map((rule) => ruleView(rule, states))
  })

  serve(router, calls.createRule, (call) =>
    store.write(async (trx) => {
      const ownerId = ownerOf(await call.admitAgain(trx))
      if ((await countAlertRows(trx, 'alert_rules', ownerId)) >= most.mostRules)
        throw new ApiFailure(`There are ${most.mostRules} rules already. Delete one first.`)
      const rule = await addAlertRule(trx, await newRule(trx, { ownerId, now: epochSeconds(clock) }, call.body))
      await recordAudit(trx, auditEvent(clock, call, 'alert.create-rule', `rule ${rule.id}`, rule.name))
      return ruleView(rule, [])
    }),
  )

  serve(router, calls.updateRule, async (call) => {
    const { id } = call.body
    const owner = ownerOf(call.person)
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      await changeRule(trx, { clock }, call, owner, call.body)
    })
    const [rules, states] = await Promise.all([alertRules(store.read, owner), alertStatesOf(store.read, owner)])
    const rule = rules.find((each) => each.id === id)
    if (!rule) throw new ApiFailure('This alert rule does not exist.')
    return ruleView(rule, states)
  })

  serve(router, calls.removeRule, (call) =>
    store.write(async (trx) => {
      const { id } = call.params
      const rule = await deleteAlertRule(trx, ownerOf(await call.admitAgain(trx)), id)
      if (!rule) throw new ApiFailure('This alert rule does not exist.')
      await recordAudit(trx, auditEvent(clock, call, 'alert.delete-rule', `rule ${id}`, rule.name))
    }),
  )
}

function mountDestinations(router: ApiRouter, deps: AlertDeps, { calls, ownerOf, ...most }: Scope): void {
  const { store, clock, secrets } = deps
  const isOperators = (ownerId: number) => ownerId === installationOwner

  serve(router, calls.destinations, async ({ person }) =>
    (await alertDestinations(store.read, ownerOf(person))).map(destinationView),
  )

  serve(router, calls.createDestination, (call) =>
    store.write(async (trx) => {
      const { kind, name } = call.body
      const ownerId = ownerOf(await call.admitAgain(trx))
      if ((await countAlertRows(trx, 'alert_destinations', ownerId)) >= most.mostDestinations)
        throw new ApiFailure(`There are ${most.mostDestinations} destinations already. Delete one first.`)
      const { address, hint, generated } = newAddress(call.body, isOperators(ownerId))
      const row = await addAlertDestination(trx, {
        owner_id: ownerId,
        kind,
        name,
        hint,
        address: sealAddress(secrets, address),
        has_secret: address.secret !== '',
        created_time: epochSeconds(clock),
      })
      await recordAudit(
        trx,
        auditEvent(clock, call, 'alert.create-destination', `destination ${row.id}`, `${kind} ${name}`),
      )
      return { ...destinationView(row), secret: generated }
    }),
  )

  serve(router, calls.updateDestination, (call) =>
    store.write(async (trx) => {
      const { id, name } = call.body
      const ownerId = ownerOf(await call.admitAgain(trx))
      const row = await alertDestination(trx, ownerId, id)
      if (!row) throw new ApiFailure('This destination does not exist.')
      const before = openAddress(secrets, row.address)
      const { address, hint } = changedAddress(row.kind, before, call.body, isOperators(ownerId))
      await updateAlertDestination(trx, id, {
        ...(name !== undefined && { name }),
        hint,
        address: sealAddress(secrets, address),
        has_secret: address.secret !== '',
      })
      const changed = (['url', 'token', 'secret', 'to'] as const).filter((field) => address[field] !== before[field])
      const detail = [...(name === undefined || name === row.name ? [] : ['name']), ...changed].join(' ')
      await recordAudit(trx, auditEvent(clock, call, 'alert.update-destination', `destination ${id}`, detail))
      const after = await alertDestination(trx, ownerId, id)
      if (!after) throw new ApiFailure('This destination does not exist.')
      return destinationView(after)
    }),
  )

  serve(router, calls.removeDestination, (call) =>
    store.write(async (trx) => {
      const { id } = call.params
      const row = await deleteAlertDestination(trx, ownerOf(await call.admitAgain(trx)), id)
      if (!row) throw new ApiFailure('This destination does not exist.')
      await recordAudit(trx, auditEvent(clock, call, 'alert.delete-destination', `destination ${id}`, row.name))
    }),
  )

  serve(router, calls.testDestination, ({ person, params, context }) =>
    testDestination(deps, {
      ownerId: ownerOf(person),
      personId: person.id,
      id: params.id,
      languages: context.req.header('accept-language'),
    }),
  )
}

function destinationView(row: AlertDestinationRow): AlertDestination {
  const { id, name, kind, hint, created_time, last_time, last_error } = row
  return { id, name, kind, hint, has_secret: Boolean(row.has_secret), created_time, last_time, last_error }
}

function historyView({ created_at, deliveries, ...event }: AlertHistoryRow): AlertHistory {
  return {
    ...event,
    time: created_at,
    deliveries: deliveries.map(({ last_time, ...delivery }) => ({ ...delivery, time: last_time })),
  }
}
