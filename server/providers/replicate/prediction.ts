import { setTimeout as pause } from 'node:timers/promises'
import { GatewayError } from '../../errors.ts'
import { NamedEventFraming } from '../../lib/bytes/reframe.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { fetchPlain } from '../../lib/network/fetch-plain.ts'
import type { OpenContext, Target } from '../provider.ts'

const ownHost = /(?:^|\.)replicate\.com$/
/** The interval for polling a prediction, in milliseconds. */
const pauseMs = 1_000
const over: ReadonlySet<unknown> = new Set(['succeeded', 'failed', 'canceled', 'aborted'])

/**
 * The URL of a model's predictions. A base URL set by an admin may end before `/v1`, after it, or after `/v1/models`.
 */
export function predictionsUrl(baseUrl: string, model: string): string {
  const base = /\/v\d+(?:\/|$)/.test(baseUrl) ? baseUrl.replace(/\/models$/, '') : `${baseUrl}/v1`
  return `${base}/models/${model.split('/').map(encodeURIComponent).join('/')}/predictions`
}

/** A prediction, and the URLs to poll, stream and cancel it. */
interface Job {
  readonly prediction: JsonObject
  readonly get: string | undefined
  readonly stream: string | undefined
  readonly cancel: string | undefined
}

/**
 * Creates a prediction. Returns its stream or, if there is none, waits until the prediction ends. If the caller
 * disconnects, the prediction is cancelled, because it would continue to cost money. Rejects with GatewayError, or if
 * `context.signal` is aborted.
 */
export async function openPrediction(target: Target, body: string, context: OpenContext): Promise<Response> {
  const { call, signal, proxy } = context
  const headers = { ...target.headers, 'content-type': 'application/json', ...(!call.stream && { prefer: 'wait' }) }
  const response = await fetchPlain(target.url, { method: 'POST', headers, body, signal, redirect: 'manual', proxy })
  if (!response.ok) return response
  const job = jobOf(tryParse(await response.text()), context)
  try {
    if (call.stream && job.stream) return await followed(job, job.stream, target, context)
    const ended = await waited(job, target, context)
    return call.stream && 'output' in ended ? eventsOf(ended) : Response.json(ended)
  } catch (error) {
    giveUp(job, target, context)
    throw error
  }
}

function jobOf(prediction: unknown, context: OpenContext): Job {
  if (!isObject(prediction)) throw new GatewayError('bad_response_body', 'the upstream returned no prediction')
  const urls = isObject(prediction['urls']) ? prediction['urls'] : {}
  const at = (name: string) => ownAddress(urls[name], context)
  return { prediction, get: at('get'), stream: at('stream'), cancel: at('cancel') }
}

/**
 * Returns a URL from the service's response; undefined if its host does not belong to the service. If an admin set a
 * base URL, returns the same path on the host of that base URL.
 */
function ownAddress(url: unknown, { upstream }: OpenContext): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  const base = new URL(upstream.baseUrl)
  const { hostname, pathname, search } = new URL(url)
  if (!ownHost.test(base.hostname)) return `${base.origin}${pathname}${search}`
  return ownHost.test(hostname) ? url : undefined
}

async function waited({ prediction, get }: Job, { headers }: Target, context: OpenContext): Promise<JsonObject> {
  let latest = prediction
  while (get && !over.has(latest['status'])) {
    await pause(pauseMs, undefined, { signal: context.signal })
    latest = await context.fetchJson(get, headers)
  }
  return latest
}

function giveUp({ cancel }: Job, { headers }: Target, { check, proxy }: OpenContext): void {
  if (!cancel) return
  const work = async () => {
    await check(cancel)
    const response = await fetchPlain(cancel, { method: 'POST', headers, redirect: 'manual', proxy })
    await response.body?.cancel()
  }
  // A failure is ignored, because the request has already ended.
  void work().catch(() => undefined)
}

const encoder = new TextEncoder()

const eventBytes = (event: string, data: unknown) => encoder.encode(`data: ${JSON.stringify({ event, data })}\n\n`)

const streamHeaders = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }

/** A finished prediction as events, for models that do not stream. */
function eventsOf(prediction: JsonObject): Response {
  const { output } = prediction
  const text = Array.isArray(output) ? (output as unknown[]).join('') : output
  const events = [eventBytes('output', typeof text === 'string' ? text : ''), eventBytes('prediction', prediction)]
  return new Response(Buffer.concat(events), streamHeaders)
}

/** The events of a prediction, followed by the prediction itself, which contains the usage. */
async function followed(job: Job, url: string, target: Target, context: OpenContext): Promise<Response> {
  await context.check(url)
  const headers = { ...target.headers, accept: 'text/event-stream' }
  const response = await fetchPlain(url, { headers, signal: context.signal, redirect: 'manual', proxy: context.proxy })
  if (!response.ok || !response.body) return response
  const reader = response.body.getReader()
  const framing = new NamedEventFraming()
  const end = async () =>
    job.get ? await context.fetchJson(job.get, target.headers) : { ...job.prediction, status: 'succeeded' }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        const messages = done ? framing.finish() : framing.push(value)
        for (const message of messages) {
          const { event } = tryParse(message) as { event: string }
          if (event === 'output' || event === 'error') controller.enqueue(encoder.encode(`data: ${message}\n\n`))
          if (event !== 'done') continue
          controller.enqueue(eventBytes('prediction', await end()))
          controller.close()
          await reader.cancel()
          return
        }
        if (done) controller.close()
        if (done || messages.length > 0) return
      }
    },
    async cancel(reason) {
      giveUp(job, target, context)
      await reader.cancel(reason)
    },
  })
  return new Response(body, streamHeaders)
}
