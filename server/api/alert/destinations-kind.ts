import { mostDestinations } from '../../../contract/api/alert.ts'
import type { AlertDestinationEntry } from '../../../contract/config-file.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { openAddress, sealAddress } from '../../jobs/alert-sender.ts'
import { epochSeconds } from '../../lib/clock.ts'
import type { AlertAddress } from '../../outbound/alert-services.ts'
import {
  type AlertDestinationRow,
  addAlertDestination,
  alertDestinations,
  deleteAlertDestination,
  installationOwner,
  updateAlertDestination,
} from '../../store/accounts/alert-destinations.ts'
import { countAlertRows } from '../../store/accounts/alert-rules.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import {
  ConfigFault,
  type ConfigKind,
  EntryFault,
  maskedSecret,
  type PlanContext,
  type PlannedChange,
  plainSecret,
} from '../config-kind.ts'
import { planByName } from '../plan-by-name.ts'
import { type CheckedAddress, changedAddress, newAddress } from './destination-input.ts'

const parts = ['url', 'token', 'secret', 'to'] as const

/**
 * The section `alert_destinations` of a configuration file: the alert destinations of the installation. Every part of a
 * destination's address can contain a secret. For this reason, parts that an entry omits stay unchanged, and a plan
 * shows no part of an address.
 */
export const alertDestinationsKind: ConfigKind<'alert_destinations'> = {
  section: 'alert_destinations',
  names: (wanted) => wanted.map(({ name }) => name),

  async plan(trx, wanted, context) {
    const existing = await alertDestinations(trx, installationOwner)
    return planByName(
      {
        section: 'alert_destinations',
        ...{ wanted, existing, refuseSame },
        nameOf: ({ name }) => name,
        planEntry: (entry, row) => planDestination(entry, row, context),
        removal: (row) => removal(row, context),
      },
      context,
    )
  },

  async export(db, { secrets }, placeholder) {
    const rows = await alertDestinations(db, installationOwner)
    for (const sames of Map.groupBy(rows, ({ name }) => name).values()) refuseSame(sames, ['alert_destinations'])
    const entries = rows
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, kind, address: sealed }): AlertDestinationEntry => {
        const address = openAddress(secrets, sealed)
        const shown = parts.flatMap((part) => {
          const text = address[part] === '' ? undefined : placeholder('alert', name, part)
          return text === undefined ? [] : [[part, text] as const]
        })
        return { name, kind, ...Object.fromEntries(shown) }
      })
    return entries.length === 0 ? undefined : entries
  },
}

function refuseSame(sames: readonly AlertDestinationRow[], path: readonly PropertyKey[]): void {
  const [first] = sames
  if (first && sames.length > 1)
    throw new ConfigFault(
      path,
      `There are ${sames.length} alert destinations named ${JSON.stringify(first.name)}. Rename all but one of them first.`,
    )
}

function planDestination(
  entry: AlertDestinationEntry,
  row: AlertDestinationRow | undefined,
  context: PlanContext,
): PlannedChange | undefined {
  const given: Partial<AlertAddress> = Object.fromEntries(
    parts.flatMap((part) => (entry[part] === undefined ? [] : [[part, plainSecret(entry[part])]])),
  )
  return row ? change(row, given, entry, context) : addition(given, entry, context)
}

function addition(
  given: Partial<AlertAddress>,
  { name, kind }: AlertDestinationEntry,
  { deps, actor }: PlanContext,
): PlannedChange {
  // A generated secret would never be shown to anybody, so the file must contain one.
  if (kind === 'webhook' && !given.secret) throw new EntryFault('secret is missing: messages are signed with it.')
  const whole = { url: '', token: '', secret: '', to: '', ...given }
  const { address, hint } = newAddress({ kind, name, ...whole }, true)
  return {
    op: 'add',
    name,
    fields: [
      { field: 'kind', before: '', after: JSON.stringify(kind) },
      ...masked(parts.filter((part) => address[part] !== '')),
    ],
    async make(trx) {
      if ((await countAlertRows(trx, 'alert_destinations', installationOwner)) >= mostDestinations.installation)
        throw new ApiFailure(`There are ${mostDestinations.installation} destinations already. Delete one first.`)
      const added = await addAlertDestination(trx, {
        ...{ owner_id: installationOwner, kind, name, hint },
        address: sealAddress(deps.secrets, address),
        has_secret: address.secret !== '',
        created_time: epochSeconds(deps.clock),
      })
      const target = `destination ${added.id}`
      await recordAudit(trx, auditEvent(deps.clock, actor, 'alert.create-destination', target, `${kind} ${name}`))
    },
  }
}

function change(
  row: AlertDestinationRow,
  given: Partial<AlertAddress>,
  { name, kind }: AlertDestinationEntry,
  { deps, actor }: PlanContext,
): PlannedChange | undefined {
  if (row.kind !== kind)
    throw new EntryFault('the kind of an existing destination cannot be changed. Give the new one another name.')
  const before = openAddress(deps.secrets, row.address)
  const { address, hint }: CheckedAddress = changedAddress(kind, before, { id: row.id, ...given }, true)
  const changed = parts.filter((part) => address[part] !== before[part])
  if (changed.length === 0) return undefined
  return {
    op: 'change',
    name,
    fields: masked(changed),
    async make(trx) {
      await updateAlertDestination(trx, row.id, {
        hint,
        address: sealAddress(deps.secrets, address),
        has_secret: address.secret !== '',
      })
      const target = `destination ${row.id}`
      await recordAudit(trx, auditEvent(deps.clock, actor, 'alert.update-destination', target, changed.join(' ')))
    },
  }
}

const masked = (fields: readonly string[]) =>
  fields.map((field) => ({ field, before: maskedSecret, after: maskedSecret }))

function removal({ id, name }: AlertDestinationRow, { deps, actor }: PlanContext): PlannedChange {
  return {
    op: 'remove',
    name,
    fields: [],
    async make(trx) {
      await deleteAlertDestination(trx, installationOwner, id)
      await recordAudit(trx, auditEvent(deps.clock, actor, 'alert.delete-destination', `destination ${id}`, name))
    },
  }
}
