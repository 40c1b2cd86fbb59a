import type { WrittenCarries } from '../../../contract/api/channel-carries.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { type CarryFields, carryFields } from '../../api/channel/carry-input.ts'
import { channelFields } from '../../api/channel/channel-input.ts'
import { keysFromConfig } from '../../api/channel/config-keys.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { providerOf } from '../../providers/registry.ts'
import type { ChannelFields } from '../../store/channels/channels.ts'
import { channelType } from '../channel-types.ts'
import { codingPlanUrl } from '../coding-plans.ts'
import { integer, isDeleted, object, seconds, text, textOf, trimmed, truth } from '../fields.ts'
import type { Findings } from '../findings.ts'
import type { Program } from '../program.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { channelKeys } from './channel-keys.ts'
import { amount, reportZeroDate, storedStatus } from './user-row.ts'

/** A channel of the source in Tollgate's terms. Nothing in it is encrypted yet. */
export interface ChannelDraft {
  id: number
  type: number
  keys: string[]
  dead: { index: number; reason: string }[]
  fields: ChannelFields & CarryFields
  status: number
  createdTime: number
  testTime: number
  responseTime: number
  balance: number
  balanceTime: number
  used: number
  /** The channel's own prices for models, as stored by Laisky's one-api, by the name that is sent upstream. */
  prices: Readonly<Record<string, JsonObject>>
}

/** The type for channels whose type does not exist in Tollgate. Such channels are disabled. */
const customType = 8

/**
 * Reads a channel; undefined if it was deleted. An invalid field is dropped. If the channel cannot work without the
 * field, it is disabled.
 */
export function readChannel(row: SourceRow, program: Program, findings: Findings): ChannelDraft | undefined {
  const id = integer(row, 'id')
  reportZeroDate(row, 'channels', `channel ${id}`, findings)
  if (isDeleted(row)) return undefined
  // LiteLLM's rows have no numeric ids. Those that the import assigned mean nothing to the reader of the report, so the
  // name is used.
  const example = program.name === 'litellm' ? trimmed(row, 'name') : `channel ${id} (${trimmed(row, 'name')})`
  const sourceType = integer(row, 'type')
  const type = channelType(program.name, sourceType)
  const kept = new Kept(row, example, findings)
  if (type === undefined || providerOf(type) === undefined)
    kept.disable(
      `type ${sourceType}`,
      `Type ${sourceType} has no counterpart here. The channel is disabled, as a custom one.`,
    )
  const plan = program.name === 'new-api' ? codingPlanUrl(trimmed(row, 'base_url')) : undefined
  if (plan !== undefined)
    findings.add(
      'channels',
      `The channel has the name of a coding plan instead of a URL. The channel becomes an OpenAI-compatible one at ${plan}; requests in the format of Anthropic are translated.`,
      example,
    )
  const known = type !== undefined && providerOf(type) ? type : customType
  const realType = plan === undefined ? known : openaiCompatible
  const config = keysFromConfig({ key: trimmed(row, 'key'), config: text(row, 'config') })
  const source = { ...row, key: config.key, config: config.config }
  const { keys, mode, dead } = channelKeys(source, realType, program)
  const fault = keys.map((key) => providerOf(realType)?.keyFault?.(key)).find((each) => each !== undefined)
  if (fault !== undefined && realType === type)
    kept.disable('key', `The key does not have the form of its type. The channel is disabled.`)
  if (keys.length === 0) kept.disable('key', 'The channel has no key. It is disabled.')

  kept.channel('base_url', { base_url: plan ?? baseUrl(row, program, realType, kept) }, true)
  kept.channel('models', { models: text(row, 'models') }, true)
  kept.channel('group', { group: text(row, 'group') })
  kept.channel('model_mapping', { model_mapping: text(row, 'model_mapping') }, text(row, 'model_mapping') !== '')
  kept.channel('config', { config: channelConfig(source, realType, program, kept) })
  const setting = object(row, 'setting')
  kept.channel('system_prompt', { system_prompt: text(row, 'system_prompt') || textOf(setting?.['system_prompt']) })
  carries(row, program, kept)
  if (row['auto_ban'] !== undefined && row['auto_ban'] !== null && !truth(row, 'auto_ban'))
    findings.add(
      'channels',
      'In the source, the channel was never disabled automatically. Here, the option for all channels decides.',
      example,
    )
  return {
    id,
    type: realType,
    keys,
    dead,
    fields: {
      ...kept.fields,
      name: trimmed(row, 'name'),
      weight: Math.min(Math.max(0, integer(row, 'weight')), 1_000_000),
      priority: Math.min(Math.max(-1e9, integer(row, 'priority')), 1e9),
      other: otherOf(row, realType),
      key_mode: mode,
      key_count: Math.max(1, keys.length),
    },
    status: kept.isDisabled ? channelStatus.disabled : statusOf(storedStatus(row, statusKinds, example, findings)),
    createdTime: seconds(row, 'created_time'),
    testTime: seconds(row, 'test_time'),
    responseTime: Math.max(0, integer(row, 'response_time')),
    balance: Number(row['balance'] ?? 0) || 0,
    balanceTime: seconds(row, 'balance_updated_time'),
    used: amount(row, 'used_quota', example, findings),
    prices: program.name === 'laisky' ? channelPrices(row) : {},
  }
}

/** Collects the fields of a channel. They pass the same checks as fields that are entered in the console. */
class Kept {
  readonly fields: ChannelFields & CarryFields = {}
  isDisabled = false
  readonly #row: SourceRow
  readonly #example: string
  readonly #findings: Findings

  constructor(row: SourceRow, example: string, findings: Findings) {
    this.#row = row
    this.#example = example
    this.#findings = findings
  }

  disable(reason: string, sentence: string): void {
    this.isDisabled = true
    const { key: _key, ...data } = this.#row
    this.#findings.leave({ kind: 'channel', id: this.#example, reason, data }, sentence)
  }

  /** Reports a part of the channel that has no counterpart. */
  drop(column: string, value: unknown, sentence: string): void {
    this.#findings.leave({ kind: 'channel', id: this.#example, reason: column, data: { [column]: value } }, sentence)
  }

  /**
   * Imports a field. If it is refused, it is dropped, and if the channel cannot work without it, the channel is
   * disabled.
   */
  channel(column: string, body: Parameters<typeof channelFields>[0], isNeeded = false): void {
    this.#tried(column, isNeeded, () => channelFields(body, () => true))
  }

  carry(column: string, body: WrittenCarries): void {
    // If its headers, proxy or parameters are invalid, the channel is disabled. Without them, it would send other
    // requests than it did in the source.
    this.#tried(column, ['headers', 'parameters', 'proxy'].includes(column), () => carryFields(body, {}))
  }

  #tried(column: string, isNeeded: boolean, read: () => ChannelFields & CarryFields): void {
    try {
      Object.assign(this.fields, read())
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error
      const effect = isNeeded ? 'It is dropped and the channel is disabled' : 'It is dropped'
      if (isNeeded) this.isDisabled = true
      this.drop(column, this.#row[column] ?? '', `The ${column} is not valid here. ${effect}: ${error.message}`)
    }
  }
}

const statusKinds = { part: 'channels' as const, new: channelStatus.enabled, disabled: channelStatus.disabled }

function statusOf(status: number): number {
  return Object.values<number>(channelStatus).includes(status) ? status : channelStatus.disabled
}

/**
 * The base URL of a channel. A custom channel of new-api has the full URL of a call, from which `/v1/chat/completions`
 * is removed. If the URL of a channel of Laisky's one-api has no version, `/v1` is added.
 */
function baseUrl(row: SourceRow, { name }: Program, type: number, kept: Kept): string {
  const url = trimmed(row, 'base_url').replace(/\/+$/, '')
  if (name === 'laisky' && type === openaiCompatible && url !== '')
    return /\/v\d+[a-z]*\d*$/.test(url) ? url : `${url}/v1`
  if (name !== 'new-api' || type !== customType || url === '') return url
  const base = url.replace(/\/v1\/chat\/completions$/, '')
  if (base === url)
    kept.drop(
      'base_url',
      url,
      'new-api calls the URL of a custom channel as it is. Here the path of each call is appended: check the URL.',
    )
  return base
}

const azure = 3
const openaiCompatible = 50
const cloudflare = 37
const coze = 34
const vertex = 42

/**
 * The value of `other`. For Vertex AI, it is empty, because the region that the source has in `other` becomes part of
 * the key.
 */
function otherOf(row: SourceRow, type: number): string {
  const other = trimmed(row, 'other')
  return type === vertex || other.length > 500 ? '' : other
}

/** The settings of a channel that have a counterpart in Tollgate's configuration. */
function channelConfig(row: SourceRow, type: number, { name }: Program, kept: Kept): string {
  const stored = text(row, 'config')
  const config = stored === '' ? {} : tryParse(stored)
  if (!isObject(config)) {
    kept.drop('config', stored, 'The config is not a JSON object and is dropped.')
    return ''
  }
  const names = ['api_version', 'region', 'library_id', 'plugin', 'user_id']
  const settings: JsonObject = {}
  for (const [key, value] of Object.entries(config)) {
    if (names.includes(key)) settings[key] = value
    else if (name === 'laisky' && key === 'custom_headers' && isObject(value))
      kept.carry('headers', { headers: textsIn(value) })
    else if (value !== '' && value !== null)
      kept.drop('config', { [key]: value }, `The setting ${key} of the channel has no counterpart.`)
  }
  const other = trimmed(row, 'other')
  if (name === 'new-api' && other !== '' && (type === cloudflare || type === coze)) settings['user_id'] ??= other
  if (type === azure && other !== '') delete settings['api_version']
  return Object.keys(settings).length === 0 ? '' : JSON.stringify(settings)
}

/** Imports what a channel adds to its requests besides its key, such as headers and a proxy. */
function carries(row: SourceRow, { name }: Program, kept: Kept): void {
  const tag = trimmed(row, 'tag')
  if (tag !== '') kept.carry('tags', { tags: tag.split(',').map((each) => each.trim().slice(0, 40)) })
  if (trimmed(row, 'remark') !== '') kept.carry('remark', { remark: trimmed(row, 'remark').slice(0, 1000) })
  const tested = trimmed(row, 'test_model') || trimmed(row, 'testing_model')
  if (tested !== '') kept.carry('test_model', { test_model: tested })
  const organization = trimmed(row, 'open_ai_organization') || trimmed(row, 'openai_organization')
  if (organization !== '') kept.carry('organization', { organization })
  for (const column of ['header_override', 'model_headers']) headers(row, column, kept)
  for (const column of ['param_override', 'custom_parameter']) parameters(row, column, kept)
  const statuses = object(row, 'status_code_mapping')
  if (statuses) {
    const numbers = Object.entries(statuses).map(([from, to]) => [from, Number(to)] as const)
    kept.carry('status_map', { status_map: Object.fromEntries(numbers) })
  }
  const proxy = trimmed(row, 'proxy') || textOf(object(row, 'setting')?.['proxy']).trim()
  if (proxy !== '') proxyOf(proxy, kept)
  const others =
    name === 'laisky' ? ['tooling', 'ratelimit', 'inference_profile_arn_map'] : ['plugin', 'disabled_stream']
  for (const column of others) {
    const value = text(row, column)
    if (value !== '' && value !== '0' && value !== '{}' && value !== '[]' && value !== 'null')
      kept.drop(column, value, `The ${column} of the channel has no counterpart.`)
  }
}

function headers(row: SourceRow, column: string, kept: Kept): void {
  const value = object(row, column)
  if (!value) {
    dropText(row, column, kept)
    return
  }
  const texts = textsIn(value)
  if (Object.keys(texts).length > 0) kept.carry('headers', { headers: texts })
}

function textsIn(value: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function parameters(row: SourceRow, column: string, kept: Kept): void {
  const value = object(row, column)
  if (!value) {
    dropText(row, column, kept)
    return
  }
  if ('operations' in value || 'per_model' in value) {
    kept.drop(column, value, `The ${column} has conditions, which have no counterpart.`)
    return
  }
  const { overwrite, ...set } = value
  const op = column === 'custom_parameter' && overwrite !== true ? 'default' : 'set'
  const operations = Object.entries(set).map(([path, each]) => ({ op, path, value: each }) as const)
  if (operations.length > 0) kept.carry('parameters', { parameters: operations })
}

function dropText(row: SourceRow, column: string, kept: Kept): void {
  const value = trimmed(row, column)
  if (value !== '') kept.drop(column, value, `The ${column} is not a JSON object and is dropped.`)
}

function proxyOf(address: string, kept: Kept): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const login = url?.username ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` : undefined
  if (url) {
    url.username = ''
    url.password = ''
  }
  kept.carry('proxy', { proxy: url?.href ?? address, ...(login !== undefined && { proxy_login: login }) })
}

/**
 * The prices of a channel in Laisky's one-api: from `model_configs`, or from the two older columns that it replaced.
 */
function channelPrices(row: SourceRow): Record<string, JsonObject> {
  const prices: Record<string, JsonObject> = {}
  for (const [column, field] of [
    ['model_ratio', 'ratio'],
    ['completion_ratio', 'completion_ratio'],
  ] as const)
    for (const [model, value] of Object.entries(object(row, column) ?? {}))
      prices[model] = { ...prices[model], [field]: value }
  for (const [model, value] of Object.entries(object(row, 'model_configs') ?? {}))
    if (isObject(value)) prices[model] = value
  return prices
}
