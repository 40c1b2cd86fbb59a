import type { Generated } from 'kysely'
import type { AlertKind } from '../../../contract/alert-conditions.ts'
import type { DestinationKindName } from '../../../contract/alert-destinations.ts'
import type { AlertEvent, AlertLanguage } from '../../../contract/alert-text.ts'

/** Added by Tollgate: the destinations of alerts. The owner is a user, or 0 for the installation. */
export interface AlertDestinationsTable {
  id: Generated<number>
  owner_id: number
  kind: DestinationKindName
  name: string
  /** The part of the address that may be shown, because it is not secret. */
  hint: string
  /** A JSON object with everything that is needed to send a message, encrypted. */
  address: string
  has_secret: boolean
  created_time: number
  last_time: Generated<number>
  last_error: Generated<string>
}

/** Added by Tollgate: a condition, and the destinations to which messages are sent when it applies. */
export interface AlertRulesTable {
  id: Generated<number>
  owner_id: number
  kind: AlertKind
  name: string
  enabled: boolean
  threshold: number
  minutes: number
  min_calls: number
  channel_id: number
  /** A JSON array of ids. */
  destinations: string
  title: string
  text: string
  language: AlertLanguage
  remind_hours: number
  send_resolved: boolean
  quiet_start: string
  quiet_end: string
  time_zone: string
  created_time: number
}

/** Added by Tollgate: the targets for which a rule is currently firing. */
export interface AlertStatesTable {
  rule_id: number
  /** The target, such as `channel 7`; '' for the installation or the account. */
  target: string
  name: string
  since: number
  /** The time at which the condition stopped applying; 0 while it applies. */
  clear_since: number
  value: number
  /** The time of the last message. */
  sent_at: number
}

/** Added by Tollgate: a message of a rule. */
export interface AlertEventsTable {
  id: Generated<number>
  owner_id: number
  rule_id: number
  rule_name: string
  event: AlertEvent
  target: string
  title: string
  text: string
  created_at: number
}

/** Added by Tollgate: the delivery of a message to one destination. */
export interface AlertDeliveriesTable {
  id: Generated<number>
  event_id: number
  destination_id: number
  /** The destination's name. */
  destination: string
  kind: DestinationKindName
  status: 'waiting' | 'held' | 'sent' | 'failed'
  attempts: Generated<number>
  /** The time at which the next attempt is due. */
  next_at: number
  last_time: Generated<number>
  error: Generated<string>
}
