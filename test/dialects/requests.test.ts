import { describe, expect, test } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { casesOf, dialects, meaningOf, withoutEmpty } from '../helpers/dialects.ts'
import { leastCases } from '../helpers/recordings.ts'
import { differences } from './stated-differences.ts'

const names = Object.keys(dialects) as DialectName[]
/** Recorded requests that the service refused, and that our decoders refuse for the same reason. */
const refused = ['invalid-role-a006bb']
/**
 * Matches the errors for content that another dialect cannot express: files and responses stored at a service, audio,
 * video, and documents by URL.
 */
const unsayable = /is stored at a service|a file stored at a service|^audio|^video|a document or audio file by URL/

function alike(name: DialectName, wire: JsonObject): unknown {
  const plain = withoutEmpty(JSON.parse(JSON.stringify(wire))) as JsonObject
  return withoutEmpty(differences[name].reduce((each, { apply }) => withoutEmpty(apply(each)) as JsonObject, plain))
}

describe('recorded requests', () => {
  for (const name of names) {
    const dialect = dialects[name]
    const recorded = casesOf(name, { withRequest: true }).flatMap(({ id, requestJson, request }) =>
      isObject(requestJson) && !refused.some((each) => id.endsWith(each))
        ? [{ id, requestJson, path: request.path }]
        : [],
    )

    test(`of ${name} are unchanged after decoding and encoding, except for the stated differences`, () => {
      expect(recorded.length).toBeGreaterThanOrEqual(leastCases(71))
      for (const { id, requestJson, path } of recorded) {
        const model = (name === 'gemini' && /models\/([^:/]+):/.exec(path)?.[1]) || 'address'
        const conversation = dialect.decodeRequest(requestJson, { model })
        const options = { cacheControl: true, reasoningField: 'reasoning_content', freeformTools: true } as const
        const { body, dropped } = dialect.encodeRequest(conversation, options)
        expect({ id, body: alike(name, body), dropped }).toEqual({ id, body: alike(name, requestJson), dropped: [] })
      }
    })

    for (const other of names.filter((each) => each !== name)) {
      test(`of ${name} keep their text, calls, results, media and tools in ${other}`, () => {
        let count = 0
        for (const { id, requestJson } of recorded) {
          const conversation = dialect.decodeRequest(requestJson, { model: 'm' })
          // If no message has content, no request can be sent.
          if (meaningOf(conversation).turns.length === 0) continue
          let body: JsonObject
          try {
            body = dialects[other].encodeRequest(conversation).body
          } catch (error) {
            expect({ id, message: (error as Error).message }).toEqual({ id, message: expect.stringMatching(unsayable) })
            continue
          }
          const again = dialects[other].decodeRequest(JSON.parse(JSON.stringify(body)) as JsonObject, { model: 'm' })
          expect({ id, ...meaningOf(again) }).toEqual({ id, ...meaningOf(conversation) })
          count++
        }
        expect(count).toBeGreaterThan(recorded.length * 0.9)
      })
    }
  }
})
