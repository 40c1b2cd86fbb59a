import { GatewayError } from '../../errors.ts'
import { fetchPlain } from '../../lib/network/fetch-plain.ts'
import { through } from '../../outbound/fetch-json.ts'
import type { Target } from '../../providers/provider.ts'
import type { RelayDeps } from '../call/deps.ts'
import { notFound } from '../call/kept-responses.ts'
import { viaFor, viaHeader } from '../call/via.ts'
import type { Channel } from '../routing/routing-table.ts'
import { withHeaders } from '../upstream/carry.ts'

const dialect = 'openai-responses'

/** A request to a service about a response or conversation that it stores. */
export interface StoringQuestion {
  /** The channel, with the key under which the service stores the response or conversation. */
  channel: Channel
  /** The upstream's name for the model. */
  model: string
  method: string
  /** The part of the path after the service's base path, such as `/responses/resp_1/cancel`. */
  path: string
  parameters?: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /** The Tollgate installations that the request has passed through; null = none. */
  via?: string | null
  /** Aborted when nobody waits for the response any more. */
  signal?: AbortSignal
}

/**
 * Asks a service about a response or conversation that it stores, and resolves with the head of the service's response.
 * Throws GatewayError if no response arrives within `limitMs`.
 */
export async function askStoring(deps: RelayDeps, question: StoringQuestion, limitMs: number): Promise<Response> {
  const { channel, method, body, signal } = question
  const { proxy } = channel.carries ?? {}
  const { url, headers } = await targetOf(deps, question)
  await deps.guard.check(url)
  if (proxy) await deps.guard.check(proxy.url)
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), limitMs)
  try {
    return await fetchPlain(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
      signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
      redirect: 'manual',
      proxy,
    })
  } catch (cause) {
    if (controller.signal.aborted) throw new GatewayError('upstream_timeout', 'the upstream did not respond in time')
    throw new GatewayError('do_request_failed', 'the request to the upstream failed', { cause })
  } finally {
    clearTimeout(timer)
  }
}

async function targetOf(deps: RelayDeps, { channel, model, path, parameters, via }: StoringQuestion): Promise<Target> {
  const { provider, upstream, carries } = channel
  const endpoint = provider.chat(upstream, model).find((each) => each.dialect.name === dialect)
  if (!endpoint) throw notFound('id')
  const call = { mode: 'chat', path: '/v1/responses', model, stream: false } as const
  const target = await endpoint.target(upstream, call, {
    body: '',
    nowMs: deps.clock.nowMs(),
    tokens: deps.accessTokens,
    fetchJson: through(deps.fetchJson, carries?.proxy),
  })
  const { headers } = carries ? withHeaders(target, carries) : target
  const passed = viaFor(deps, { headers: via ? { [viaHeader]: via } : {} }, channel)
  return { url: addressOf(target.url, path, parameters ?? []), headers: { ...headers, ...passed } }
}

/** The service's URL for responses, with `path` in place of `/responses`. The URL keeps its own query parameters. */
function addressOf(responsesUrl: string, path: string, parameters: NonNullable<StoringQuestion['parameters']>): string {
  const url = new URL(responsesUrl)
  url.pathname = url.pathname.replace(/\/responses$/, '') + path
  for (const [name, value] of parameters) url.searchParams.append(name, value)
  return url.href
}
