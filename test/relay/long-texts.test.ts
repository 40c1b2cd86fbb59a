// The gateway does not parse a long body. It only finds the fields that it needs (the outline). The upstream and the
// recordings must get the same bytes as if the body were parsed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Capture, CaptureRule } from '../../contract/api/capture.ts'
import { charged, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
beforeEach(() => rig.clear())
afterAll(() => rig[Symbol.asyncDispose]())

const text = `caf\\u00e9 言葉 \\ud83d\\ude80 \\/ \\"m\\" ${'words of a page\\n'.repeat(300)}`
const messages = (count: number, more = '') =>
  `[{"role":"system","content":"${text}"}${`,\n {"content" : "${text}", "role":"user"}`.repeat(count)}${more}]`
/** A body whose formatting would change if it were parsed and serialised again. It is about `count` × 5 KB long. */
const odd = (count: number, more = '') =>
  `{ "model" : "m","messages":${messages(count, more)},\t"temperature":0.0, "seed": 12345678901234567890, "x": {"model":"m","text":"${text}"}}`
/** The same body without the field `x`, which is unknown. The gateway can handle it without parsing it. */
const plain = (count: number, more = '') => odd(count, more).replace(/, "x": .*$/s, '}')

async function call(body: string) {
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post('/v1/chat/completions', '', caller.token, { body }))
  return { caller, seen, sent: rig.upstream.requests.at(-1)?.text }
}

describe.each([
  ['100 KB', 20],
  ['500 KB', 100],
])('a body of %s', (_, count) => {
  test.each([
    ['that the outline describes', plain(count)],
    ['that has to be parsed', odd(count)],
  ])('%s is passed on as it arrived', async (__, body) => {
    await rig.channel()
    const { caller, seen, sent } = await call(body)
    expect(seen.status).toBe(200)
    expect(sent).toBe(body)
    expect(await charged(rig, caller, 15)).toHaveLength(1)
  })

  test('changes only in its model if the channel maps the model', async () => {
    await rig.channel({ model_mapping: '{"m":"m2"}' })
    expect((await call(plain(count))).sent).toBe(plain(count).replace('"model" : "m"', '"model" : "m2"'))
    expect((await call(odd(count))).sent).toBe(odd(count).replace('"model" : "m"', '"model" : "m2"'))
  })

  test('gets a usage option if it is streamed, in addition to the options that it has', async () => {
    await rig.channel()
    const streamed = plain(count).replace('"seed"', '"stream":true, "seed"')
    expect((await call(streamed)).sent).toBe(`{"stream_options":{"include_usage":true},${streamed.slice(1)}`)
    const withOptions = streamed.replace('"seed"', `"stream_options":{"text":"${text}"}, "seed"`)
    const options = { text: JSON.parse(`"${text}"`) as string, include_usage: true }
    expect(JSON.parse((await call(withOptions)).sent ?? '')).toEqual({
      ...(JSON.parse(withOptions) as object),
      stream_options: options,
    })
  })

  test('gets the system prompt of its channel', async () => {
    await rig.channel({ system_prompt: 'Be brief.' })
    const { sent } = await call(plain(count))
    const { messages: wanted, ...rest } = JSON.parse(plain(count)) as { messages: object[] }
    expect(JSON.parse(sent ?? '')).toEqual({
      ...rest,
      messages: [{ ...wanted[0], content: 'Be brief.' }, ...wanted.slice(1)],
    })
  })

  test('has its call ids repaired', async () => {
    await rig.channel()
    const longId = 'x'.repeat(50)
    const more = `,{"role":"assistant","tool_calls":[{"id":"${longId}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"${longId}","content":"x"}`
    const { seen, sent } = await call(plain(count, more))
    expect(seen.status).toBe(200)
    const { messages: list } = JSON.parse(sent ?? '') as { messages: { content?: string; tool_call_id?: string }[] }
    expect(list[1]?.content).toBe(JSON.parse(`"${text}"`) as string)
    expect(list.at(-1)?.tool_call_id).toMatch(/^\w{1,40}$/)
  })

  test('is changed by the parameters of its channel', async () => {
    const parameters = [{ op: 'set', path: 'temperature', value: 0.5 }]
    const fields = { models: 'm', parameters }
    await rig.channel(fields)
    expect(JSON.parse((await call(plain(count))).sent ?? '')).toEqual({
      ...(JSON.parse(plain(count)) as object),
      temperature: 0.5,
    })
  })

  test('is translated for a service of another format', async () => {
    await rig.channel({ type: 14 })
    const { sent } = await call(plain(count))
    const body = JSON.parse(sent ?? '') as { system: unknown; messages: { content: unknown }[] }
    expect(JSON.stringify(body.messages.at(-1)?.content)).toContain(text.replaceAll('\\/', '/').slice(40, 400))
  })

  test('is recorded whole', async () => {
    await rig.channel()
    const caller = await rig.caller()
    await rig.gateway.api<CaptureRule>('POST', '/api/capture/rule/', {
      target: 'user',
      target_id: caller.userId,
      until: Math.floor(Date.now() / 1000) + 3600,
    })
    const seen = await see(rig.gateway.post('/v1/chat/completions', '', caller.token, { body: plain(count) }))
    await rig.gateway.context.api.captures.close()
    const capture = await rig.gateway.api<Capture | null>(
      'GET',
      `/api/capture/${seen.headers.get('x-oneapi-request-id')}`,
    )
    expect(capture?.request.text.slice(0, 10_000)).toBe(plain(count).slice(0, 10_000))
  })

  test.each([
    ['a control character', '\n'],
    ['half an escape', '\\u12'],
    ['an unknown escape', '\\x'],
  ])('is refused if a text has %s', async (__, damage) => {
    await rig.channel()
    const { caller, seen, sent } = await call(plain(count).replace('words of', `words${damage} of`))
    expectError(seen, 400, 'invalid_json')
    expect(sent).toBeUndefined()
    expect(await charged(rig, caller, 0)).toEqual([])
  })

  test('is refused if it contains a field twice, even if one name is written with escapes', async () => {
    await rig.channel()
    const { seen } = await call(plain(count).replace('"seed"', '"\\u006dodel":"n","seed"'))
    expectError(seen, 400, 'invalid_field_value')
  })
})
