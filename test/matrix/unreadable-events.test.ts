// An unreadable event in the middle of a stream, in every format: the answer either continues without the event or ends
// with an error. The event is never passed on, and content that it may have contained is never lost without a notice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { providers } from '../../server/providers/registry.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { callers } from './support/callers.ts'
import { givingTokens } from './support/fakes/index.ts'
import { type Rig, startMatrixRig } from './support/rig.ts'
import { outcomeOf, type StreamedCase, streamedCall, streamedCases, usesSockets } from './support/streamed-cases.ts'
import { variantsOf } from './support/variants.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(providers.flatMap(variantsOf).map(({ model }) => model))
})
afterAll(() => rig[Symbol.asyncDispose]())

/**
 * Excludes three formats: binary frames, which have checksums; Zhipu's old format, in which every text is an event; and
 * Replicate's events, which come from another endpoint.
 */
const hasLines = (each: StreamedCase) =>
  !usesSockets(each) &&
  !['zhipu-v3', 'replicate'].includes(each.dialect) &&
  each.fake.pieces(each.said).length > 0 &&
  each.fake.pieces(each.said).every((piece) => typeof piece === 'string')

const bad = ['{"id":"x","choices":[{"index":0,"delta":{"content":"lo', 'not JSON', '[]', 'null']

describe('an unreadable event', () => {
  for (const each of streamedCases.filter(hasLines)) {
    const { provider, variant, caller, fake, said } = each
    const pieces = fake.pieces(said) as string[]
    const written = (data: string) => (fake.streamType ? `${data}\n` : `data: ${data}\n\n`)
    test(`in a stream of ${provider.meta.label} ${variant.note} does not change the rest of the answer for callers of ${caller}`, async () => {
      const { asked, whole } = streamedCall(each)
      const clients = await rig.through({ ...variant.setup, name: caller, type: provider.meta.type })
      const answer = (sent: readonly string[]) => {
        rig.answer(
          givingTokens(
            behaviour('has an event that nobody can read', async (exchange) => {
              exchange.head(200, [['content-type', fake.streamType ?? 'text/event-stream']])
              for (const piece of sent) if (!(await exchange.write(piece))) return
              exchange.end()
            }),
          ),
        )
        return outcomeOf(callers[caller](clients, asked))
      }
      const seen: string[] = []
      for (let at = 0; at <= pieces.length; at++) {
        const line = written(bad[at % bad.length] ?? '')
        const outcome = await answer([...pieces.slice(0, at), line, ...pieces.slice(at)])
        seen.push('message' in outcome ? 'error' : 'whole')
        if (!('message' in outcome)) expect([at, outcome]).toEqual([at, whole])
        // After two unreadable events in a row, the stream ends with an error.
        const twice = await answer([...pieces.slice(0, at), line, line, ...pieces.slice(at)])
        if (at < pieces.length) expect([at, 'message' in twice]).toEqual([at, true])
      }
      // Before the first readable event there is no answer to continue. After the end marker nothing more is read.
      expect(seen.slice(0, 2)).toEqual(['error', 'whole'])
      expect(seen.slice(1, -1)).not.toContain('error')
    })
  }
})
