import type * as z from 'zod/mini'
import { type createAlertRuleBody, mostRules, updateAlertRuleBody } from '../../../contract/api/alert.ts'
import type { AlertRuleEntry } from '../../../contract/config-file.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { destinationIds } from '../../jobs/evaluate-alerts.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { alertDestinations, installationOwner } from '../../store/accounts/alert-destinations.ts'
import {
  type AlertRuleRow,
  addAlertRule,
  alertRules,
  countAlertRows,
  deleteAlertRule,
} from '../../store/accounts/alert-rules.ts'
import { allChannels } from '../../store/channels/channels.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Db, Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import {
  ConfigFault,
  type ConfigKind,
  differences,
  EntryFault,
  type PlanContext,
  type PlannedChange,
} from '../config-kind.ts'
import { planByName } from '../plan-by-name.ts'
import { changeRule } from './change-rule.ts'
import { newRule } from './rule-input.ts'

/** The names of channels and destinations that rules use, for lookups by name and by id. */
interface Names {
  destinations: readonly { id: number; name: string }[]
  channels: readonly { id: number; name: string }[]
}

/**
 * The section `alert_rules` of a configuration file: the alert rules of the installation. Fields that an entry omits
 * get their defaults.
 */
export const alertRulesKind: ConfigKind<'alert_rules'> = {
  section: 'alert_rules',
  names: (wanted) => wanted.map(({ name }) => name),

  async plan(trx, wanted, context) {
    const existing = await alertRules(trx, installationOwner)
    const names = await namesIn(trx)
    return planByName(
      {
        section: 'alert_rules',
        ...{ wanted, existing, refuseSame },
        nameOf: ({ name }) => name,
        planEntry: (entry, row) => planRule(trx, entry, row, { ...context, names }),
        removal: (row) => removal(row, context),
      },
      context,
    )
  },

  async export(db) {
    const rules = await alertRules(db, installationOwner)
    for (const sames of Map.groupBy(rules, ({ name }) => name).values()) refuseSame(sames, ['alert_rules'])
    const names = await namesIn(db)
    const entries = rules.sort((a, b) => (a.name < b.name ? -1 : 1)).map((row) => exported(entryOf(row, names)))
    return entries.length === 0 ? undefined : (entries as AlertRuleEntry[])
  },
}

async function namesIn(db: Db): Promise<Names> {
  const [destinations, channels] = [await alertDestinations(db, installationOwner), await allChannels(db)]
  return { destinations, channels }
}

function refuseSame(sames: readonly AlertRuleRow[], path: readonly PropertyKey[]): void {
  const [first] = sames
  if (first && sames.length > 1)
    throw new ConfigFault(
      path,
      `There are ${sames.length} alert rules named ${JSON.stringify(first.name)}. Rename all but one of them first.`,
    )
}

/** The only row with this name. Throws EntryFault if there is none, or more than one. */
function idNamed(rows: readonly { id: number; name: string }[], name: string, what: string): number {
  const found = rows.filter((row) => row.name === name)
  const [first] = found
  if (!first) throw new EntryFault(`there is no ${what} named ${JSON.stringify(name)}.`)
  if (found.length > 1) throw new EntryFault(`there are ${found.length} ${what}s named ${JSON.stringify(name)}.`)
  return first.id
}

async function planRule(
  trx: Trx,
  entry: AlertRuleEntry,
  row: AlertRuleRow | undefined,
  { deps, actor, names }: PlanContext & { names: Names },
): Promise<PlannedChange | undefined> {
  const { channel, destinations = [], ...fields } = entry
  const body: z.output<typeof createAlertRuleBody> = {
    ...fields,
    channel_id: channel === undefined ? 0 : idNamed(names.channels, channel, 'channel'),
    destinations: destinations.map((name) => idNamed(names.destinations, name, 'alert destination')),
  }
  const now = epochSeconds(deps.clock)
  const wanted = await newRule(trx, { ownerId: installationOwner, now }, body)
  const after = entryOf(wanted, names)
  if (!row)
    return {
      op: 'add',
      name: entry.name,
      fields: differences({}, exported(after)),
      async make(trx) {
        if ((await countAlertRows(trx, 'alert_rules', installationOwner)) >= mostRules.installation)
          throw new ApiFailure(`There are ${mostRules.installation} rules already. Delete one first.`)
        const rule = await addAlertRule(trx, wanted)
        await recordAudit(trx, auditEvent(deps.clock, actor, 'alert.create-rule', `rule ${rule.id}`, rule.name))
      },
    }
  if (row.kind !== entry.kind)
    throw new EntryFault('the condition of an existing rule cannot be changed. Give the new rule another name.')
  const changed = differences(entryOf(row, names), after)
  if (changed.length === 0) return undefined
  const { kind: _kind, ...update } = body
  return {
    op: 'change',
    name: entry.name,
    fields: changed,
    make: (trx) => changeRule(trx, deps, actor, installationOwner, { ...update, id: row.id }),
  }
}

function removal({ id, name }: AlertRuleRow, { deps, actor }: PlanContext): PlannedChange {
  return {
    op: 'remove',
    name,
    fields: [],
    async make(trx) {
      await deleteAlertRule(trx, installationOwner, id)
      await recordAudit(trx, auditEvent(deps.clock, actor, 'alert.delete-rule', `rule ${id}`, name))
    },
  }
}

/** Converts a rule to an entry of the file, with all of its fields. Deleted channels and destinations are omitted. */
function entryOf(row: Omit<AlertRuleRow, 'id'>, names: Names): Record<string, unknown> {
  const nameOf = (rows: Names['channels'], id: number) => rows.find((each) => each.id === id)?.name
  const fields = Object.keys(updateAlertRuleBody.shape).filter(
    (field) => !['id', 'channel_id', 'destinations', 'name', 'enabled', 'send_resolved'].includes(field),
  )
  return {
    name: row.name,
    kind: row.kind,
    enabled: Boolean(row.enabled),
    send_resolved: Boolean(row.send_resolved),
    ...Object.fromEntries(fields.map((field) => [field, row[field as keyof typeof row]])),
    channel: row.channel_id === 0 ? '' : (nameOf(names.channels, row.channel_id) ?? ''),
    destinations: destinationIds(row).flatMap((id) => nameOf(names.destinations, id) ?? []),
  }
}

/** Removes the fields that have their default value from an entry. */
function exported(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const usual: Readonly<Record<string, unknown>> = {
    enabled: true,
    send_resolved: true,
    minutes: 10,
    min_calls: 20,
    threshold: 0,
    title: '',
    text: '',
    language: 'en',
    remind_hours: 0,
    quiet_start: '',
    quiet_end: '',
    time_zone: 'UTC',
    channel: '',
  }
  return Object.fromEntries(
    Object.entries(entry).filter(
      ([name, value]) => value !== usual[name] && !(Array.isArray(value) && value.length === 0),
    ),
  )
}
