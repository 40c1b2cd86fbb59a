// Streams of every format that break off. The caller gets either an error or the complete answer, but never a part of
// it that looks complete.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { providers } from '../../server/providers/registry.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { callers } from './support/callers.ts'
import { givingTokens } from './support/fakes/index.ts'
import { type SparkServer, startSparkServer } from './support/fakes/spark-server.ts'
import { type Rig, startMatrixRig } from './support/rig.ts'
import { outcomeOf, type StreamedCase, streamedCall, streamedCases, usesSockets } from './support/streamed-cases.ts'
import { variantsOf } from './support/variants.ts'

let rig: Rig
let spark: SparkServer
beforeAll(async () => {
  rig = await startMatrixRig(providers.flatMap(variantsOf).map(({ model }) => model))
  spark = startSparkServer()
})
afterAll(async () => {
  spark[Symbol.dispose]()
  await rig[Symbol.asyncDispose]()
})

/** A stream that ends after the first `pieces` chunks. */
function cutAfter({ fake, said }: StreamedCase, pieces: number, ending: 'end' | 'fin') {
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
  for (const each of streamedCases) {
    const { provider, variant, caller, fake, said } = each
    const count = fake.pieces(said).length
    if (count === 0) continue
    test(`of ${provider.meta.label} ${variant.note} never looks complete to callers of ${caller}`, async () => {
      const base = usesSockets(each) ? { base: spark.url } : {}
      const setup = { ...variant.setup, ...base, name: caller, type: provider.meta.type }
      const { asked, whole } = streamedCall(each)
      const clients = await rig.through(setup)
      const seen: string[] = []
      for (let pieces = 0; pieces <= count; pieces++) {
        if (usesSockets(each)) spark.says(said, pieces)
        else rig.answer(givingTokens(cutAfter(each, pieces, pieces % 2 === 0 || pieces === count ? 'end' : 'fin')))
        const outcome = await outcomeOf(callers[caller](clients, asked))
        seen.push('message' in outcome ? 'error' : 'whole')
        if (!('message' in outcome)) expect([pieces, outcome]).toEqual([pieces, whole])
      }
      // A stream without any chunk must end in an error, and the complete stream must give a complete answer.
      expect([seen[0], seen.at(-1)]).toEqual(['error', 'whole'])
    })
  }
})
