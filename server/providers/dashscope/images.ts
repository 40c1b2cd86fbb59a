import { setTimeout as wait } from 'node:timers/promises'
import { failureWithin } from '../../dialects/dashscope/failure.ts'
import { failureAnswer, serviceFailure } from '../../dialects/failures/service-failure.ts'
import { looseList, looseObject, looseText } from '../../dialects/neutral/fields.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { fetchPlain } from '../../lib/network/fetch-plain.ts'
import type { ModeEndpoint, ModeTranslation, OpenContext, Target } from '../provider.ts'

/** The interval for polling a job, in milliseconds. */
const pauseMs = 1000

/**
 * False for models whose response to the request contains the image. All other models start a job, which is polled
 * until it is done.
 */
export function usesJob(model: string): boolean {
  return !/^qwen-image-(?:max|2)|^z-image|^wan2\.[6-9]/.test(model)
}

const translation: ModeTranslation = {
  request(body, { model }) {
    const { prompt, n, size, response_format: format, user: _user, model: _model, quality: _quality, ...rest } = body
    if (format === 'b64_json')
      throw new GatewayError('invalid_field_value', 'this channel returns image URLs only', {
        param: 'response_format',
      })
    const parameters = {
      ...(typeof size === 'string' && size !== 'auto' && { size: size.replace('x', '*') }),
      ...(n !== undefined && { n }),
      ...rest,
    }
    if (usesJob(model)) return { model, input: { prompt }, parameters }
    return { model, input: { messages: [{ role: 'user', content: [{ text: prompt }] }] }, parameters }
  },
  reply(answer) {
    const failure = failureWithin(answer)
    if (failure) return failureAnswer(failure)
    const output = looseObject(answer['output'])
    const results = looseList(output['results'])
    const drawn = looseList(output['choices']).flatMap(({ message }) => looseList(looseObject(message)['content']))
    const data = [...results, ...drawn].flatMap(imageOf)
    if (data.length > 0) return { created: epochSecondsIn(output['end_time']), data }
    const failed = results.find((each) => looseText(each['code'])) ?? output
    const message = looseText(failed['message']) || 'the upstream generated no image'
    const code = looseText(failed['code'])
    return failureAnswer(serviceFailure(0, code === 'DataInspectionFailed' ? 'invalid' : 'server', message, code))
  },
}

/** Parses a time from the service, which is in Beijing time. Undefined if it is missing or invalid. */
function epochSecondsIn(time: unknown): number | undefined {
  const ms = Date.parse(`${looseText(time).replace(' ', 'T')}+08:00`)
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}

function imageOf(image: JsonObject): JsonObject[] {
  const url = looseText(image['url']) || looseText(image['image'])
  return url === '' ? [] : [{ url }]
}

/** DashScope's image endpoint, without its URL. */
export const images: Omit<ModeEndpoint, 'target'> = { translation, open }

/** Starts a job and polls it until it is done. Rejects if `context.signal` is aborted. */
async function open(target: Target, body: string, context: OpenContext): Promise<Response> {
  const { signal, proxy } = context
  const headers = { 'content-type': 'application/json', ...target.headers }
  const response = await fetchPlain(target.url, { method: 'POST', headers, body, signal, redirect: 'manual', proxy })
  if (response.status !== 200 || !usesJob(context.call.model)) return response
  const text = await response.text()
  let answer = tryParse(text)
  const id = looseText(looseObject(looseObject(answer)['output'])['task_id'])
  const address = `${target.url.slice(0, target.url.indexOf('/api/v1/'))}/api/v1/tasks/${encodeURIComponent(id)}`
  while (id !== '' && isPending(answer)) {
    answer = await context.fetchJson(address, { authorization: target.headers['authorization'] ?? '' })
    if (isPending(answer)) await wait(pauseMs, undefined, { signal })
  }
  return isObject(answer) ? Response.json(answer) : new Response(text, { headers: response.headers })
}

function isPending(answer: unknown): boolean {
  const status = looseText(looseObject(looseObject(answer)['output'])['task_status'])
  return status === 'PENDING' || status === 'RUNNING'
}
