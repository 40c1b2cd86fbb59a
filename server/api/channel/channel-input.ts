import * as z from 'zod/mini'
import { channelConfigSchema, type createChannelBody } from '../../../contract/api/channel.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { parseInput } from '../../http/parse-input.ts'
import { isMetadataHost } from '../../lib/network/metadata-address.ts'
import { splitList } from '../../lib/split-list.ts'
import type { ChannelFields } from '../../store/channels/channels.ts'

type Body = z.output<typeof createChannelBody>

/** The channel fields in a request body, validated and in stored form, without the key. */
export function channelFields(body: Body, isKnownType: (type: number) => boolean): ChannelFields {
  const fields: ChannelFields = {}
  // A type of 0 means unchanged, because clients that send whole records send zeros for fields that they do not know.
  if (body.type) {
    if (!isKnownType(body.type)) throw new ApiFailure(`There is no channel type ${body.type}.`)
    fields.type = body.type
  }
  if (body.status) fields.status = parseStatus(body.status)
  if (body.name !== undefined) fields.name = body.name
  if (body.weight != null) fields.weight = body.weight
  if (body.priority != null) fields.priority = body.priority
  if (body.base_url !== undefined) fields.base_url = parseBaseUrl(body.base_url ?? '')
  if (body.other !== undefined) fields.other = body.other ?? ''
  if (body.draining !== undefined) fields.draining = body.draining
  if (body.models !== undefined) fields.models = parseModels(body.models)
  if (body.group !== undefined) fields.group = splitList(body.group).join(',') || 'default'
  if (body.model_mapping !== undefined) fields.model_mapping = parseMapping(body.model_mapping ?? '')
  if (body.config !== undefined) fields.config = parseConfig(body.config ?? '')
  if (body.system_prompt !== undefined) fields.system_prompt = body.system_prompt ?? ''
  return fields
}

function parseStatus(status: number): number {
  if (!Object.values<number>(channelStatus).includes(status)) throw new ApiFailure('status must be 1, 2 or 3.')
  return status
}

export function parseModels(text: string): string {
  const models = splitList(text)
  if (models.length === 0) throw new ApiFailure('please select at least one model!')
  return models.join(',')
}

function parseBaseUrl(text: string): string {
  const url = text.replace(/\/+$/, '')
  if (url === '') return ''
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  // ws and wss are allowed, because Spark uses WebSocket.
  if (!parsed || !/^(https?|wss?):$/.test(parsed.protocol)) {
    throw new ApiFailure('base_url must be a URL that begins with https:// or http://.')
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ApiFailure(
      'base_url must not contain a username or password. Everyone who can see the channel would see them.',
    )
  }
  // Paths are appended to the URL. After a query or a fragment, a path would become part of the query or be lost.
  if (/[?#]/.test(url)) throw new ApiFailure('base_url must not contain a query or fragment (? or #).')
  if (isMetadataHost(parsed.hostname)) throw new ApiFailure('base_url must not be a cloud metadata service.')
  return url
}

function parseMapping(text: string): string {
  const mapping = text.trim() === '' ? {} : parseJson(text)
  if (!z.safeParse(z.record(z.string(), z.string()), mapping).success) {
    throw new ApiFailure('model mapping must be valid JSON format!')
  }
  return text.trim() === '' ? '{}' : text
}

function parseConfig(text: string): string {
  if (text.trim() === '') return ''
  const config = parseJson(text)
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new ApiFailure('config must be a JSON object.')
  }
  // Empty fields are dropped, because other consoles send every field that they know, and leave unused fields empty.
  const filled = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== '' && value !== null))
  const { config: parsed } = parseInput(z.object({ config: channelConfigSchema }), { config: filled })
  return Object.keys(parsed).length === 0 ? '' : JSON.stringify(parsed)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
