import * as z from 'zod/mini'
import { type Channel, type ChannelConfig, channelConfigSchema } from '../../../contract/api/channel.ts'
import type { ChannelLimit } from '../../../contract/api/channel-limits.ts'
import { type CarriedValues, type CarryProblem, carriedBody, carriedValues, carryProblems } from './carry-values.ts'
import { listOf } from './channel-parts.tsx'

/** Channel types whose form differs from the usual one. */
export const channelType = { openai: 1, azure: 3, custom: 8, ernie: 15, spark: 18 } as const

/**
 * How the lines of the key field are used: all as a single key, each as the key of a separate channel, or all as the
 * keys of one channel.
 */
export type KeyUse = 'one' | 'each' | 'multi'

/** A limit in the form; its number is undefined while the box is empty. */
export type LimitValue = Omit<ChannelLimit, 'most'> & { most: number | undefined }

/** The values of the form. Time limits are in seconds; undefined = the default from the settings. */
export interface ChannelValues extends CarriedValues {
  /** The number of a channel type, as text. */
  type: string
  name: string
  groups: string[]
  key: string
  key_use: KeyUse
  key_append: boolean
  base_url: string
  other: string
  models: string[]
  model_mapping: string
  priority: number | undefined
  weight: number | undefined
  connect_timeout: number | undefined
  first_byte_timeout: number | undefined
  first_token_timeout: number | undefined
  stream_idle_timeout: number | undefined
  relay_timeout: number | undefined
  http_version: string
  system_turns: string
  strip_deployment_dots: boolean
  system_prompt: string
  limits: LimitValue[]
  draining: boolean
}

const seconds = z.optional(z.number().check(z.gte(0), z.lte(86_400)))

/** Validation rules of individual fields; `problemsOf` reports missing fields. */
export const channelFormSchema = z.object({
  type: z.string(),
  name: z.string().check(z.maxLength(100)),
  priority: z.optional(z.int().check(z.gte(-1e9), z.lte(1e9))),
  weight: z.optional(z.int().check(z.gte(0), z.lte(1e6))),
  connect_timeout: seconds,
  first_byte_timeout: seconds,
  first_token_timeout: seconds,
  stream_idle_timeout: seconds,
  relay_timeout: seconds,
  limits: z.array(z.object({ most: z.int().check(z.gte(1)) })),
})

function configOf(channel: Channel | undefined): ChannelConfig {
  try {
    const parsed = z.safeParse(channelConfigSchema, JSON.parse(channel?.config || '{}'))
    return parsed.success ? parsed.data : {}
  } catch {
    return {}
  }
}

function prettyMapping(text: string): string {
  if (text.trim() === '' || text.trim() === '{}') return ''
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The values of a new channel, or of an existing one. */
export function channelValues(channel?: Channel): ChannelValues {
  const config = configOf(channel)
  return {
    type: String(channel?.type ?? channelType.openai),
    name: channel?.name ?? '',
    groups: channel ? listOf(channel.group) : ['default'],
    key: '',
    key_use: channel?.key_mode === 'multi' ? 'multi' : 'one',
    key_append: false,
    base_url: channel?.base_url ?? '',
    other: channel?.other ?? '',
    models: channel ? listOf(channel.models) : [],
    model_mapping: prettyMapping(channel?.model_mapping ?? ''),
    priority: channel?.priority ?? 0,
    weight: channel?.weight ?? 1,
    connect_timeout: config.connect_timeout,
    first_byte_timeout: config.first_byte_timeout,
    first_token_timeout: config.first_token_timeout,
    stream_idle_timeout: config.stream_idle_timeout,
    relay_timeout: config.relay_timeout,
    http_version: config.http_version ?? 'auto',
    system_turns: config.system_turns ?? 'auto',
    strip_deployment_dots: config.strip_deployment_dots ?? false,
    system_prompt: channel?.system_prompt ?? '',
    limits: [...(channel?.limits ?? [])],
    draining: channel?.draining ?? false,
    ...carriedValues(channel),
  }
}

/** True for a JSON object with only string values, and for empty text. */
export function isMapping(text: string): boolean {
  if (text.trim() === '') return true
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    return Object.values(value).every((each) => typeof each === 'string')
  } catch {
    return false
  }
}

/**
 * A problem that prevents submitting the form: its field, the sentence for the toast, and the text beside the field.
 */
export interface Problem {
  field: 'name' | 'key' | 'models' | 'model_mapping' | 'headers' | 'parameters' | 'status_map'
  message: 'channel.form.needsName' | 'channel.form.needsModel' | 'channel.form.badMapping' | 'carry.wrong'
  atField:
    | 'channel.form.enterName'
    | 'channel.form.enterKey'
    | 'channel.form.selectModel'
    | 'channel.form.enterMapping'
    | CarryProblem
}

/** All problems, in one-api's order. */
export function problemsOf(values: ChannelValues, isNew: boolean): Problem[] {
  const problems: (Problem | false)[] = [
    isNew &&
      values.name.trim() === '' && {
        field: 'name',
        message: 'channel.form.needsName',
        atField: 'channel.form.enterName',
      },
    isNew &&
      values.key.trim() === '' && { field: 'key', message: 'channel.form.needsName', atField: 'channel.form.enterKey' },
    values.models.length === 0 && {
      field: 'models',
      message: 'channel.form.needsModel',
      atField: 'channel.form.selectModel',
    },
    !isMapping(values.model_mapping) && {
      field: 'model_mapping',
      message: 'channel.form.badMapping',
      atField: 'channel.form.enterMapping',
    },
    ...carryProblems(values).map(({ field, atField }) => ({ field, message: 'carry.wrong' as const, atField })),
  ]
  return problems.filter((problem) => problem !== false)
}

/** The distinct, non-empty lines of a key, and how many lines were skipped. */
export function keyLines(key: string): { keys: string[]; skipped: number } {
  const lines = key.trim() === '' ? [] : key.trim().split('\n')
  const keys = [...new Set(lines.map((line) => line.trim()).filter((line) => line !== ''))]
  return { keys, skipped: lines.length - keys.length }
}

/** The value of `other` if the field is empty. */
const otherDefaults: Readonly<Record<number, string>> = {
  [channelType.azure]: '2023-06-01-preview',
  [channelType.spark]: 'v2.1',
}

/** The default value of `other` for a channel type. */
export function otherDefault(type: number): string {
  return otherDefaults[type] ?? ''
}

function configText(values: ChannelValues, before: Channel | undefined): string {
  const { connect_timeout, first_byte_timeout, first_token_timeout, stream_idle_timeout, relay_timeout } = values
  const { http_version, system_turns } = values
  const { strip_deployment_dots: _dots, http_version: _http, system_turns: _turns, ...kept } = configOf(before)
  const config: ChannelConfig = {
    ...kept,
    connect_timeout,
    first_byte_timeout,
    first_token_timeout,
    stream_idle_timeout,
    relay_timeout,
    ...(http_version !== 'auto' && { http_version: http_version as '1.1' | '2' }),
    ...(system_turns !== 'auto' && { system_turns: system_turns as ChannelConfig['system_turns'] }),
    ...(values.strip_deployment_dots && { strip_deployment_dots: true }),
  }
  return JSON.stringify(config)
}

/**
 * The models after a change of type. In the parameter, `filled` lists the models that were prefilled for the previous
 * type. In the result, it lists the models that were prefilled for the new type.
 */
export function modelsOfType(
  models: readonly string[],
  filled: readonly string[],
  ofType: readonly string[] = [],
): { models: readonly string[]; filled: readonly string[] } {
  const byHand = models.filter((model) => !filled.includes(model))
  if (byHand.length > 0) return { models: byHand, filled: [] }
  return { models: ofType, filled: ofType }
}

/** The request body. Unchanged secrets are omitted, and the form's values are not modified. */
export function channelBody(values: ChannelValues, before?: Channel) {
  const type = Number(values.type)
  const { keys } = keyLines(values.key)
  const key = values.key_use === 'one' ? values.key.trim() : keys.join('\n')
  return {
    name: values.name.trim(),
    type,
    ...(key !== '' && { key }),
    ...(values.key_use === 'multi' && { key_mode: 'multi' as const, key_append: values.key_append }),
    base_url: values.base_url.trim().replace(/\/+$/, ''),
    other: values.other.trim() || otherDefault(type),
    models: values.models.join(','),
    group: values.groups.join(','),
    model_mapping: values.model_mapping.trim() === '' ? '{}' : values.model_mapping,
    priority: values.priority ?? 0,
    weight: values.weight ?? 1,
    config: configText(values, before),
    system_prompt: values.system_prompt,
    // Limits are sent only if they are used, because other servers do not support these fields.
    ...((values.limits.length > 0 || before?.limits !== undefined) && {
      limits: values.limits.flatMap(({ most, ...limit }) => (most === undefined ? [] : [{ ...limit, most }])),
    }),
    ...((values.draining || before?.draining !== undefined) && { draining: values.draining }),
    ...carriedBody(values, before),
  }
}
