// If a stream breaks off and another channel continues it, callers of every dialect get the same stream as without the
// break.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import { type Seen, textOf } from '../relay/setup.ts'
import { answerIn, checkNames, withoutComments } from './answers.ts'
import { type Break, goesOn, type RescueRig, says, startRescueRig } from './stage.ts'
import { cutsOf, type TextName, textNames, texts } from './texts.ts'

let rig: RescueRig

beforeAll(async () => {
  rig = await startRescueRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

const callers: readonly DialectName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']
/**
 * Makes a call whose first service breaks off in its text and whose second service continues it. Returns the caller's
 * stream.
 */
async function rescued(
  caller: DialectName,
  text: string,
  cut: number,
  { how = 'end', repeats = 0, size = 7 }: { how?: Break; repeats?: number; size?: number } = {},
): Promise<Seen> {
  rig.next(says({ text: text.slice(0, cut), breaks: how, size }), goesOn(text, { repeats, size }))
  return rig.whole(caller)
}

/**
 * If the second service repeats at least this many UTF-16 code units, the gateway must recognise and remove the
 * repetition.
 */
const repeatsOf = (name: TextName) => (name === 'cjk' ? 6 : name === 'emoji' ? 30 : 12)

describe.each(textNames)('the text %s', (name) => {
  const text = texts[name]

  test('is the same at whichever position it breaks off', async () => {
    await rig.services('openai-chat', 'openai-chat')
    for (const cut of cutsOf(text, 50)) {
      const seen = await rescued('openai-chat', text, cut)
      expect([cut, answerIn('openai-chat', seen).text]).toEqual([cut, text])
      expect(textOf(withoutComments(seen.text))).toBe(text)
    }
  })

  test('is the same if the other model repeats its last words', async () => {
    await rig.services('openai-chat', 'openai-chat')
    for (const cut of cutsOf(text, 50)) {
      const seen = await rescued('openai-chat', text, cut, { repeats: repeatsOf(name), size: 1 + (cut % 9) })
      expect([cut, answerIn('openai-chat', seen).text]).toEqual([cut, text])
    }
  })

  describe.each(callers)('for callers of %s', (caller) => {
    test.each(callers)('from services that use %s', async (service) => {
      await rig.services(service, service)
      for (const [index, cut] of cutsOf(text, 6).entries()) {
        const how = (['end', 'error', 'reset', 'nonsense'] as const)[index % 4] ?? 'end'
        const seen = await rescued(caller, text, cut, { how, repeats: index % 2 ? repeatsOf(name) : 0 })
        expect([cut, how, answerIn(caller, seen).text]).toEqual([cut, how, text])
        checkNames(caller, seen)
      }
    })
  })
})
