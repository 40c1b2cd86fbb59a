import type { FeedInput } from '../../contract/api/channel-costs.ts'
import { gatewayFeed, openRouterFeed, type PriceList } from '../billing/price-feeds.ts'
import { isMetadataHost } from '../lib/network/metadata-address.ts'
import type { ChannelRow } from '../store/channels/channels.ts'
import type { AskUpstream } from './upstream-account.ts'

/** The location and the kind of a price list. */
export type ListInput = Pick<FeedInput, 'kind' | 'url' | 'group'>

/** A price list and its URL, or a sentence that says why the list could not be read. */
export type PriceListResult =
  | { ok: true; url: string; list: PriceList }
  | { ok: false; message: string; isQuoted?: boolean }

/**
 * Reads the price list of a channel through the channel's proxy, but without its key. `isQuoted` means that `message`
 * may contain text from the server of the price list.
 */
export async function readPriceList(
  prices: AskUpstream['prices'],
  channel: Pick<ChannelRow, 'id' | 'base_url'>,
  input: ListInput,
): Promise<PriceListResult> {
  const url = listUrl(input, channel)
  if (typeof url !== 'string') return { ok: false, message: url.fault }
  const answer = await prices(channel.id, url)
  if (!answer.ok) return { ok: false, message: answer.message, isQuoted: true }
  const list = input.kind === 'gateway' ? gatewayFeed(answer.value, input.group) : openRouterFeed(answer.value)
  if (!list)
    return { ok: false, message: 'No prices were found in the response. Check the URL, the kind and the group.' }
  return { ok: true, url, list }
}

/** The URL of a price list, or a sentence that says why it cannot be read. */
export function listUrl(
  { kind, url }: Pick<ListInput, 'kind' | 'url'>,
  channel: Pick<ChannelRow, 'base_url'>,
): string | { fault: string } {
  if (url !== '') return checkedUrl(url)
  if (kind === 'openrouter') return 'https://openrouter.ai/api/v1/models'
  if (channel.base_url === '') return { fault: 'Enter the URL of the price list.' }
  return `${channel.base_url.replace(/\/v1$/, '')}/api/pricing`
}

/** Checks a URL that a person entered. Returns it in normal form, or a sentence that says why it is not allowed. */
export function checkedUrl(text: string): string | { fault: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    return { fault: 'The URL of a price list must begin with https:// or http://.' }
  if (url.username !== '' || url.password !== '')
    return { fault: 'The URL of a price list must not contain a username or password.' }
  if (isMetadataHost(url.hostname)) return { fault: 'The URL of a price list must not be a cloud metadata service.' }
  return url.href
}
