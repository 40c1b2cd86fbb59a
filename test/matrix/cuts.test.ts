// Streams of every format that break off: what the caller gets is an error, or everything, and never a part taken for all.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import type { Provider } from '../../server/providers/provider.ts'
import { providers } from '../../server/providers/registry.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { type Bench, startMatrixBench } from './support/bench.ts'
import { callerNames, callers } from './support/callers.ts'
import { failureIn } from './support/failures.ts'
import type { Fake, Said } from './support/fakes/fake.ts'
import { fakeOf, givingTokens } from './support/fakes/index.ts'
import { type SparkServer, startSparkServer } from './support/fakes/spark-server.ts'
import { lackOf, scenarios } from './support/features.ts'
import { endpointOf, type Variant, variantsOf } from './support/variants.ts'

/** One fake service as one caller reaches it. */
interface Case {
  provider: Provider
  variant: Variant
  caller: CallerDialect
  fake: Fake
  said: Said
}

const cases = providers
  .flatMap((provider) => variantsOf(provider).map((variant) => ({ provider, variant })))
  .flatMap(({ provider, variant }) => callerNames.flatMap((caller) => caseOf(provider, variant, caller)))
/** Services that share a format are one. */
const distinct = cases.filter(
  ({ fake, caller }, at) => cases.findIndex((each) => each.fake === fake && each.caller === caller) === at,
)

function caseOf(provider: Provider, variant: Variant, caller: CallerDialect): Case[] {
  const endpoint = endpointOf(provider, variant, caller)
  if (!endpoint) return []
  const fake = fakeOf(provider.meta.name, endpoint.dialect.name)
  const { calls } = scenarios['parallel tools'].said
  const canCall = !endpoint.lacks?.includes(lackOf.tools ?? 'tools')
  const most = fake.cannot?.['parallel tools'] === undefined ? calls.length : 1
  const { text } = scenarios.plain.said
  const thought = fake.cannot?.reasoning === undefined ? scenarios.reasoning.said.thought : ''
  return [{ provider, variant, caller, fake, said: { text, thought, calls: canCall ? calls.slice(0, most) : [] } }]
}

let bench: Bench
let spark: SparkServer
beforeAll(async () => {
  bench = await startMatrixBench(providers.flatMap(variantsOf).map(({ model }) => model))
  spark = startSparkServer()
})
afterAll(async () => {
  spark[Symbol.dispose]()
  await bench[Symbol.asyncDispose]()
})

const usesSockets = ({ provider }: Case) => provider.meta.name === 'xunfei'

/** A stream of which only the first pieces come. */
function cutAfter({ fake, said }: Case, pieces: number, ending: 'end' | 'fin') {
  return behaviour(`cut after ${pieces} by ${ending}`, async (exchange) => {
    if (!fake.streams(exchange.request)) {
      exchange.head(200, [['content-type', 'application/json']])
      await exchange.write(JSON.stringify(fake.whole(said)))
      exchange.end()
      return
    }
    exchange.head(200, [['content-type', fake.streamType ?? 'text/event-stream']])
    for (const piece of fake.pieces(said).slice(0, pieces)) if (!(await exchange.write(piece))) return
    if (ending === 'end') exchange.end()
    else exchange.fin()
  })
}

describe('a stream that breaks off', () => {
  for (const each of distinct) {
    const { provider, variant, caller, fake, said } = each
    const count = fake.pieces(said).length
    if (count === 0) continue
    test(`of ${provider.meta.label} ${variant.note} is never taken for whole by callers of ${caller}`, async () => {
      const base = usesSockets(each) ? { base: spark.url } : {}
      const setup = { ...variant.setup, ...base, name: caller, type: provider.meta.type }
      const asked = {
        model: variant.model,
        text: scenarios.plain.asked.text,
        stream: true,
        ...(said.calls.length > 0 && { tools: ['look_up'] }),
      }
      const clients = await bench.through(setup)
      const whole = {
        text: said.text,
        thought: said.thought,
        calls: said.calls.map(({ name, input }) => [name, input]),
      }
      const seen: string[] = []
      for (let pieces = 0; pieces <= count; pieces++) {
        if (usesSockets(each)) spark.says(said, pieces)
        else bench.answer(givingTokens(cutAfter(each, pieces, pieces % 2 === 0 || pieces === count ? 'end' : 'fin')))
        const outcome = await callers[caller](clients, asked).then(
          ({ text, thought, calls }) => ({ text, thought, calls: calls.map(({ name, input }) => [name, input]) }),
          failureIn,
        )
        seen.push('message' in outcome ? 'error' : 'whole')
        if (!('message' in outcome)) expect([pieces, outcome]).toEqual([pieces, whole])
      }
      // What lacks its end is no answer, and what has it is one.
      expect([seen[0], seen.at(-1)]).toEqual(['error', 'whole'])
    })
  }
})
