// Which features each caller can use with each provider. Each combination is tested over HTTP, and the page shows the
// result.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import type { ChatEndpoint, Provider } from '../../server/providers/provider.ts'
import { providers } from '../../server/providers/registry.ts'
import { plainCharge } from '../sdk/support/prices.ts'
import { type Asked, callerNames, callers } from './support/callers.ts'
import { failureIn } from './support/failures.ts'
import { used } from './support/fakes/fake.ts'
import { fakeOf, refuses, retryAfter, says } from './support/fakes/index.ts'
import { type SparkServer, startSparkServer } from './support/fakes/spark-server.ts'
import { type Feature, features, lackOf, scenarios } from './support/features.ts'
import { type Cells, matrixPage, type Row } from './support/page.ts'
import { type Rig, startMatrixRig } from './support/rig.ts'
import { endpointOf, type Variant, variantsOf } from './support/variants.ts'

const page = resolve(import.meta.dir, '../../docs/matrix.md')
const rows: Row[] = []

let rig: Rig
let spark: SparkServer
beforeAll(async () => {
  const variants = providers.flatMap(variantsOf)
  rig = await startMatrixRig(variants.flatMap(({ model, models }) => [model, ...Object.values(models ?? {})]))
  spark = startSparkServer()
})
afterAll(async () => {
  spark[Symbol.dispose]()
  await rig[Symbol.asyncDispose]()
})

/** One provider in one configuration, and the dialect of its caller. */
interface Case {
  provider: Provider
  variant: Variant
  caller: CallerDialect
  endpoint: ChatEndpoint
}

const usesSockets = ({ provider }: Case) => provider.meta.name === 'xunfei'
const modelOf = ({ variant }: Case, feature: Feature) => variant.models?.[feature] ?? variant.model

async function ask(each: Case, asked: Asked) {
  const { provider, variant, caller } = each
  const base = usesSockets(each) ? { base: spark.url } : {}
  // Each case gets its own channel, because a refusal may pause the key of a channel for a while.
  const name = `${variant.note} ${caller}`
  const clients = await rig.through({ ...variant.setup, ...base, name, type: provider.meta.type })
  return callers[caller](clients, asked)
}

/** Checks that the request and the answer of a feature arrive completely, and that the call was charged correctly. */
async function expectAnswer(each: Case, feature: Exclude<Feature, 'errors'>): Promise<void> {
  const { provider, endpoint, caller } = each
  const fake = fakeOf(provider.meta.name, endpoint.dialect.name)
  const { asked, said, sent, ways } = scenarios[feature]
  for (const stream of ways) {
    if (usesSockets(each)) spark.says(said)
    else rig.answer(says(fake, said))
    const learned = await ask(each, { ...asked, model: modelOf(each, feature), stream })
    const calls = learned.calls.map(({ name, input }) => ({ name, input }))
    expect({ feature, stream, ...learned, calls, usage: undefined }).toEqual({
      feature,
      stream,
      text: said.text,
      thought: said.thought,
      calls: said.calls.map(({ name, input }) => ({ name, input })),
      end: said.calls.length > 0 ? 'tool-calls' : 'stop',
      usage: undefined,
    })
    const ids = learned.calls.flatMap(({ id }) => id ?? [])
    // Google's own responses need no ids.
    const wanted = caller === 'gemini' && endpoint.dialect.name === 'gemini' ? 0 : said.calls.length
    expect([feature, new Set(ids).size]).toEqual([feature, wanted])
    expect([feature, requestText(each).includes(sent)]).toEqual([feature, true])
    const row = await rig.lastLog()
    expect([feature, row.outcome]).toEqual([feature, 'complete'])
    if (fake.countsNothing) continue
    expect([feature, learned.usage]).toEqual([feature, expect.objectContaining(used)])
    expect([feature, row.quota]).toEqual([feature, plainCharge(used.prompt, used.completion)])
  }
}

function requestText(each: Case): string {
  if (usesSockets(each)) return spark.messages.at(-1) ?? ''
  const post = rig.upstream.requests.findLast(({ method }) => method === 'POST')
  return Buffer.from(post?.body ?? []).toString()
}

/** Checks what a caller receives when the upstream refuses, both streamed and not. */
async function expectErrors(each: Case): Promise<void> {
  const fake = fakeOf(each.provider.meta.name, each.endpoint.dialect.name)
  for (const status of [400, 429] as const) {
    for (const stream of [false, true]) {
      const message = 'the fake service does not want to'
      if (usesSockets(each)) spark.refuses(status, message)
      else rig.answer(refuses(fake, status, message))
      const before = await rig.logCount()
      const asked = { text: scenarios.plain.asked.text, model: modelOf(each, 'errors'), stream }
      const failure = await ask(each, asked).then(() => undefined, failureIn)
      const told = { status, message: expect.stringContaining(message) }
      expect({ stream, ...failure }).toEqual(expect.objectContaining({ stream, ...told }))
      // Services that return 200 for everything have no field for retry advice.
      if (status === 429 && fake.refusal(status, message).means === undefined)
        expect([stream, failure?.retryAfter]).toEqual([stream, retryAfter])
      expect(await rig.logCount()).toBe(before)
    }
  }
}

/**
 * Checks that a feature is refused, before anything is sent or charged, if the provider declares that it lacks the
 * feature.
 */
async function expectRefused(each: Case, feature: Exclude<Feature, 'errors'>, lack: string): Promise<void> {
  const before = [await rig.logCount(), rig.upstream.requests.length, spark.messages.length]
  const { asked } = scenarios[feature]
  const answer = ask(each, { ...asked, model: modelOf(each, feature), stream: false })
  const failure = await answer.then(() => undefined, failureIn)
  expect([feature, failure?.status]).toEqual([feature, 400])
  expect(failure?.message).toContain(`channel type ${each.provider.meta.label} cannot do`)
  expect(failure?.message).toContain(lack)
  expect([await rig.logCount(), rig.upstream.requests.length, spark.messages.length]).toEqual(before)
}

/** Checks that a caller who requests something that the service cannot express still gets a plain answer. */
async function expectPlainAnswer(each: Case, feature: Exclude<Feature, 'errors'>): Promise<void> {
  const { said } = scenarios.plain
  if (usesSockets(each)) spark.says(said)
  else rig.answer(says(fakeOf(each.provider.meta.name, each.endpoint.dialect.name), said))
  const learned = await ask(each, { ...scenarios[feature].asked, model: modelOf(each, feature), stream: false })
  expect([feature, learned.text, learned.end]).toEqual([feature, said.text, 'stop'])
}

/** Tests one cell and returns the text to show in it. */
async function cellOf(each: Case, feature: Feature): Promise<string> {
  if (feature === 'errors') {
    await expectErrors(each)
    return 'passed'
  }
  const lack = lackOf[feature]
  if (lack && each.endpoint.lacks?.includes(lack)) {
    await expectRefused(each, feature, lack)
    return `not possible: the service has no ${lack}`
  }
  const reason = fakeOf(each.provider.meta.name, each.endpoint.dialect.name).cannot?.[feature]
  if (reason !== undefined) {
    await expectPlainAnswer(each, feature)
    return `not possible: ${reason}`
  }
  await expectAnswer(each, feature)
  return 'passed'
}

describe('the matrix', () => {
  for (const provider of providers) {
    for (const variant of variantsOf(provider)) {
      const title = variant.note === '' ? provider.meta.label : `${provider.meta.label}, ${variant.note}`
      for (const caller of callerNames) {
        test(`${title} (type ${provider.meta.type}) for callers of ${caller}`, { timeout: 120_000 }, async () => {
          const endpoint = endpointOf(provider, variant, caller)
          const cells: Partial<Record<Feature, string>> = {}
          for (const feature of features)
            cells[feature] = endpoint
              ? await cellOf({ provider, variant, caller, endpoint }, feature)
              : 'not possible: the service has no conversations'
          rows.push({ title, type: provider.meta.type, caller, cells: cells as Cells })
        })
      }
    }
  }

  test('docs/matrix.md shows the results of these tests (WRITE_PAGES=1 writes it)', () => {
    const expected = providers.flatMap(variantsOf).length * callerNames.length
    expect(rows.length).toBe(expected)
    const text = matrixPage(rows)
    if (process.env['WRITE_PAGES'] === '1') writeFileSync(page, text)
    expect(readFileSync(page, 'utf8')).toBe(text)
  })
})
