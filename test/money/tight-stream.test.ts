import { expect, test } from 'bun:test'
import { okStream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { messages, model, promptTokens } from './installed.ts'

/** A word of fourteen characters that is one token, so that an estimate by length is far too high. */
const word = ' international'
const paidWords = 40
/**
 * If the hold of a stream grows by 100 tokens at a time, its cost is checked every 1,600 bytes, which contain this many
 * words.
 */
const wordsPerPiece = 12
const quota = promptTokens + paidWords * 2

async function streamOf(words: number) {
  await using upstream = await startFakeUpstream()
  // There is a pause between the chunks, so that they arrive as many blocks and not as one.
  upstream.always(okStream({ chunks: Array(words).fill(word), promptTokens, delayMs: 1 }))
  await using gateway = await startTestGateway()
  await gateway.setOption('PreConsumedQuota', '100')
  await gateway.setOption('ModelRatio', JSON.stringify({ [model]: 1 }))
  await gateway.setOption('CompletionRatio', JSON.stringify({ [model]: 2 }))
  await gateway.addChannel({ base_url: upstream.url, models: model })
  const caller = await gateway.addCaller({ user: 1_000_000, token: quota })
  const response = await gateway.post('/v1/chat/completions', { model, messages, stream: true }, caller.token)
  const text = await response.text()
  const balances = await gateway.balances(caller.userId, caller.tokenId)
  const logs = await gateway.logs()
  return { text, balances, log: logs[0], rows: logs.length }
}

test('a stream whose price equals the balance is delivered completely, even if an estimate by the length of its words would be too high', async () => {
  const { text, balances, log, rows } = await streamOf(paidWords)
  expect(text).toEndWith('data: [DONE]\n\n')
  expect(text.split(word)).toHaveLength(paidWords + 1)
  expect(rows).toBe(1)
  expect(log).toMatchObject({ outcome: 'complete', quota, completion_tokens: paidWords })
  expect(balances).toMatchObject({ remain: 0, tokenUsed: quota, holds: 0 })
})

test('a stream that the balance does not cover ends with an error event when the quota is used up, and no balance falls below zero', async () => {
  const { text, balances, log, rows } = await streamOf(paidWords + 300)
  expect(text).toContain('quota_exhausted_mid_stream')
  expect(text).not.toContain('[DONE]')
  const delivered = text.split(word).length - 1
  // The piece that exceeds the limit is neither delivered nor charged.
  expect(delivered).toBeWithin(paidWords - wordsPerPiece, paidWords + 1)
  expect(rows).toBe(1)
  const charge = promptTokens + delivered * 2
  expect(log).toMatchObject({ outcome: 'interrupted', quota: charge, completion_tokens: delivered })
  expect(balances).toMatchObject({ remain: quota - charge, tokenUsed: charge, holds: 0 })
})
