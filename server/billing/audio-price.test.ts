import { describe, expect, test } from 'bun:test'
import { speechCharge, type TranscriptionMeasure, transcriptionCharge } from './audio-price.ts'
import { type PriceSheet, ratioOne } from './price.ts'
import { createPriceBook, type PriceOptions } from './price-book.ts'

function sheetOf(model: string, options: PriceOptions = {}): PriceSheet {
  const sheet = createPriceBook(options).sheet(model, 1)
  if (!sheet) throw new Error(`${model} has no price`)
  return sheet
}

describe('speechCharge', () => {
  test('tts-1 costs $15 per million characters, however many bytes they take', () => {
    expect(speechCharge({ input: 'x'.repeat(4096) }, sheetOf('tts-1'), ratioOne).quota).toBe(30_720)
    expect(speechCharge({ input: '你好世界' }, sheetOf('tts-1'), ratioOne).quota).toBe(30)
    expect(speechCharge({ input: '🙂' }, sheetOf('tts-1-hd'), ratioOne)).toEqual({
      quota: 15,
      estimated: false,
      promptTokens: 1,
      completionTokens: 0,
    })
    expect(speechCharge({ input: '' }, sheetOf('tts-1'), ratioOne).quota).toBe(0)
  })

  test('for models priced by tokens, the charge uses the reported usage, or an estimate from the text', () => {
    const sheet = sheetOf('gpt-4o-mini-tts')
    const usage = { promptTokens: 100, completionTokens: 1000 }
    expect(speechCharge({ input: 'abc', usage }, sheet, ratioOne)).toMatchObject({ quota: 6030, estimated: false })
    expect(speechCharge({ input: 'x'.repeat(900) }, sheet, ratioOne)).toMatchObject({ quota: 7590, estimated: true })
  })
})

describe('transcriptionCharge', () => {
  const charge = (model: string, measure: TranscriptionMeasure, group = ratioOne, options: PriceOptions = {}) =>
    transcriptionCharge(measure, sheetOf(model, options), group)

  test.each([
    ['a minute of whisper-1 is $0.006', 'whisper-1', { seconds: 60 }, 3000],
    ['an hour', 'whisper-1', { seconds: 3600 }, 180_000],
    ['a fraction of a second is rounded up', 'whisper-1', { seconds: 0.001 }, 1],
    ['no audio costs nothing', 'whisper-1', { seconds: 0 }, 0],
    ['a price whose quota per second is a repeating decimal', 'whisper-large-v3-turbo', { seconds: 3600 }, 20_000],
    ['at least ten seconds are charged', 'whisper-large-v3-turbo', { seconds: 1 }, 56],
    ['an unknown length is estimated from the text', 'whisper-1', { textTokens: 200 }, 3000],
    [
      'by tokens',
      'gpt-4o-transcribe',
      { usage: { promptTokens: 1000, audioPromptTokens: 1000, completionTokens: 200 }, seconds: 1 },
      4000,
    ],
    ['by tokens, without reported usage', 'gpt-4o-transcribe', { seconds: 60, textTokens: 200 }, 4000],
    ['by tokens, with only the text known', 'gpt-4o-transcribe', { textTokens: 200 }, 4000],
  ])('%s', (_, model, measure, quota) => {
    expect(charge(model, measure).quota).toBe(quota)
  })

  test('estimated charges are marked as estimates', () => {
    expect(charge('whisper-1', { seconds: 60, textTokens: 5 })).toMatchObject({
      estimated: false,
      promptTokens: 60_000,
    })
    expect(charge('whisper-1', { textTokens: 5 }).estimated).toBe(true)
    expect(charge('gpt-4o-transcribe', { seconds: 60 }).estimated).toBe(true)
  })

  test('applies the group ratio, ModelRatio (15 is $0.006 a minute) and ModelPrice (a price per request)', () => {
    expect(charge('whisper-1', { seconds: 60 }, 500_000n).quota).toBe(1500)
    expect(charge('whisper-1', { seconds: 60 }, ratioOne, { ModelRatio: '{"whisper-1":30}' }).quota).toBe(6000)
    expect(charge('whisper-1', { seconds: 60 }, ratioOne, { ModelPrice: '{"whisper-1":0.01}' }).quota).toBe(5000)
  })

  test('throws for an invalid length', () => {
    expect(() => charge('whisper-1', { seconds: -1 })).toThrow(RangeError)
    expect(() => charge('whisper-1', { seconds: Number.NaN })).toThrow(RangeError)
  })
})
