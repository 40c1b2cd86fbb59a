import { failureWithin } from '../../dialects/spark/failure.ts'
import { isLastFrame, joinFrames, spark } from '../../dialects/spark/index.ts'
import { defaultVersion, sparkModel, takesFunctions } from '../../dialects/spark/model.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { fetchPlain } from '../../lib/network/fetch-plain.ts'
import type { ChatEndpoint, OpenContext, Provider, Target, Upstream } from '../provider.ts'
import { signedAddress } from './signed-address.ts'
import { exchange, type Frames } from './socket.ts'

const keyForm = 'APPID|APISecret|APIKey'

const encoder = new TextEncoder()

function chatOf(upstream: Upstream, name: string): ChatEndpoint {
  const [appId = '', apiSecret = '', apiKey = ''] = upstream.key.split('|')
  const version = upstream.config['api_version']
  const model = sparkModel(name, typeof version === 'string' && version !== '' ? version : upstream.other)
  const media = ['images', 'audio', 'documents', 'structured output', 'more than one answer', 'logprobs'] as const
  return {
    dialect: spark(model, appId),
    lacks: takesFunctions(model) ? media : [...media, 'tools'],
    target: (_upstream, _call, { nowMs }) => {
      const base = upstream.baseUrl.replace(/^http/, 'ws')
      return { url: signedAddress(base + model.path, { apiKey, apiSecret }, nowMs), headers: {} }
    },
    open,
  }
}

/** Sends one message and returns the frames of the response as JSON or as events. Rejects with GatewayError. */
async function open({ url }: Target, body: string, context: OpenContext): Promise<Response> {
  if (context.proxy)
    throw new GatewayError(
      'mode_not_supported',
      'channels of type Spark cannot use a proxy, because they use WebSocket',
    )
  const address = url.replace(/^ws/, 'http')
  await context.check(address)
  const frames = exchange(url, body, context.signal)
  const first = await frames.next().catch((error: unknown) => refusal(address, context.signal, error))
  if (first instanceof Response) return first
  if (!first) throw broken()
  const failure = failureWithin(first)
  if (failure) {
    frames.close()
    return Response.json(first, { status: failure.status })
  }
  if (context.call.stream) return streamed(first, frames)
  const whole = await allFrames(first, frames)
  const late = failureWithin(whole)
  return Response.json(whole, late && { status: late.status })
}

function broken(): GatewayError {
  return new GatewayError(
    'upstream_stream_incomplete',
    'the upstream closed the connection before its response was complete',
  )
}

/**
 * The response that tells why a handshake failed. The WebSocket API does not report the reason, so the same URL is
 * requested with a plain GET. The signature in the URL is also valid for this request.
 */
async function refusal(address: string, signal: AbortSignal, error: unknown): Promise<Response> {
  const isHandshake = error instanceof GatewayError && error.code === 'do_request_failed' && !signal.aborted
  const response = isHandshake
    ? await fetchPlain(address, { signal, redirect: 'manual' }).catch(() => undefined)
    : undefined
  if (response && response.status >= 400 && response.status !== 426) return response
  await response?.body?.cancel()
  throw error
}

/** The response for a caller who did not request a stream. An incomplete response is an error. */
async function allFrames(first: JsonObject, frames: Frames): Promise<JsonObject> {
  const all = [first]
  for (let last = first; !isLastFrame(last); ) {
    const frame = await frames.next()
    if (!frame) throw broken()
    all.push(frame)
    last = frame
  }
  frames.close()
  return joinFrames(all)
}

function streamed(first: JsonObject, frames: Frames): Response {
  let next: Promise<JsonObject | undefined> = Promise.resolve(first)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const frame = await next
        if (frame) controller.enqueue(encoder.encode(`data: ${JSON.stringify(frame)}\n\n`))
        if (frame && !isLastFrame(frame)) {
          next = frames.next()
          // If the next frame fails, the next `pull` reports it. This handler prevents an unhandled rejection in the
          // meantime.
          next.catch(() => undefined)
          return
        }
        controller.close()
        frames.close()
      },
      cancel: () => frames.close(),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
}

/** The provider for iFlytek Spark over WebSocket. */
export const sparkProvider: Provider = {
  meta: {
    type: 18,
    name: 'xunfei',
    label: 'Xunfei Spark',
    color: 'blue',
    defaultBaseUrl: 'wss://spark-api.xf-yun.com',
    models: [
      'SparkDesk',
      'Spark-Lite',
      'Spark-Pro',
      'Spark-Pro-128K',
      'Spark-Max',
      'Spark-Max-32K',
      'Spark-4.0-Ultra',
      'SparkDesk-v1.1',
      'SparkDesk-v3.1',
      'SparkDesk-v3.5',
      'SparkDesk-v4.0',
    ],
    keyHint: keyForm,
    otherDefault: defaultVersion,
    otherLabel: 'Version for models whose name has none',
  },
  keyFault: (key) => (/^[^|\s]+\|[^|\s]+\|[^|\s]+$/.test(key) ? undefined : `The key must be ${keyForm}.`),
  modes: {},
  chat: (upstream, model) => [chatOf(upstream, model)],
  asksForStreamUsage: true,
}
