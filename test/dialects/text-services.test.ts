import { describe, expect, test } from 'bun:test'
import { collected, cozeChat } from '../../server/dialects/coze/index.ts'
import { deeplTranslate } from '../../server/dialects/deepl/index.ts'
import { replicateChat } from '../../server/dialects/replicate/index.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, decodeAll, dialects } from '../helpers/dialects.ts'

const asked = (model: string, body: JsonObject = {}) =>
  dialects['openai-chat'].decodeRequest({
    model,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Again' },
    ],
    ...body,
  })

const event = (name: string, data: unknown) => JSON.stringify({ event: name, data })

describe('Coze', () => {
  const delta = (content: string) => event('conversation.message.delta', { type: 'answer', content, chat_id: 'c' })
  const stream = [
    event('conversation.chat.created', { id: 'c', status: 'created' }),
    delta('Hel'),
    delta('lo'),
    event('conversation.message.completed', { type: 'answer', content: 'Hello' }),
    event('conversation.message.completed', { type: 'follow_up', content: 'More?' }),
    event('conversation.chat.completed', {
      id: 'c',
      status: 'completed',
      usage: { token_count: 9, input_count: 5, output_count: 4 },
    }),
    event('done', '[DONE]'),
  ]
  const answer = {
    id: 'c',
    choices: [
      {
        parts: [{ type: 'text', text: 'Hello' }],
        stop: { reason: 'stop', raw: { dialect: 'openai-chat', reason: 'stop' } },
      },
    ],
    usage: { promptTokens: 5, completionTokens: 4 },
  }

  test('receives the whole conversation', () => {
    const { body, dropped } = cozeChat.encodeRequest(asked('bot-77', { seed: 1 }))
    expect(body).toMatchObject({ bot_id: '77', stream: true, auto_save_history: false })
    expect((body['additional_messages'] as JsonObject[]).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Be brief.'],
      ['assistant', 'Okay'],
      ['user', 'Hi'],
      ['assistant', 'Hello'],
      ['user', 'Again'],
    ])
    expect(dropped).toEqual(['seed'])
  })

  test('gives the same answer whether it is streamed or collected', () => {
    const { reply, ended } = assemble(decodeAll(cozeChat, stream))
    expect(ended).toBe(true)
    expect(reply).toMatchObject(answer)
    expect(cozeChat.decodeReply(collected(stream), 'seed')).toMatchObject(answer)
  })

  test('reports an error, streamed or collected, if the answer breaks off or fails', () => {
    for (let count = 0; count < 5; count++) {
      expect(assemble(decodeAll(cozeChat, stream.slice(0, count))).failure).toBeDefined()
      expect(cozeChat.failureWithin?.(collected(stream.slice(0, count)))).toMatchObject({ kind: 'server' })
    }
    const failed = event('conversation.chat.failed', { last_error: { code: 4011, msg: 'no credit left' } })
    expect(assemble(decodeAll(cozeChat, [...stream.slice(0, 2), failed])).failure).toMatchObject({
      kind: 'billing',
      message: 'no credit left',
    })
    expect(cozeChat.failureWithin?.(collected([failed]))).toMatchObject({ message: 'no credit left' })
    expect(cozeChat.failureWithin?.({ code: 4100, msg: 'authentication is invalid' })).toMatchObject({
      status: 401,
      kind: 'authentication',
    })
  })
})

describe('Replicate', () => {
  const ended = {
    id: 'p',
    status: 'succeeded',
    output: ['Hel', 'lo'],
    metrics: { input_token_count: 5, output_token_count: 2 },
  }

  test('receives a conversation as one text, or a single question unchanged', () => {
    const { body } = replicateChat.encodeRequest(asked('meta/llama', { max_tokens: 7, temperature: 0.5, stop: 'END' }))
    expect(body).toEqual({
      input: {
        prompt: 'user: Hi\n\nassistant: Hello\n\nuser: Again\n\nassistant:',
        system_prompt: 'Be brief.',
        max_tokens: 7,
        temperature: 0.5,
        stop_sequences: 'END',
      },
    })
    const one = replicateChat.encodeRequest(asked('m', { messages: [{ role: 'user', content: 'Hi' }] }))
    expect(one.body).toEqual({ input: { prompt: 'Hi' } })
  })

  test('gives the same answer whether it is streamed or not', () => {
    const streamed = assemble(
      decodeAll(replicateChat, [event('output', 'Hel'), event('output', 'lo'), event('prediction', ended)]),
    )
    expect(streamed.ended).toBe(true)
    for (const reply of [streamed.reply, replicateChat.decodeReply(ended, 'seed')]) {
      expect(reply.choices[0]?.parts).toEqual([{ type: 'text', text: 'Hello' }])
      expect(reply.choices[0]?.stop.reason).toBe('stop')
      expect(reply.usage).toEqual({ promptTokens: 5, completionTokens: 2 })
    }
  })

  test('reports an error if the answer breaks off or fails', () => {
    expect(assemble(decodeAll(replicateChat, [event('output', 'Hel')])).failure?.code).toBe(
      'upstream_stream_incomplete',
    )
    const failed = { ...ended, status: 'failed', error: 'out of memory' }
    expect(replicateChat.failureWithin?.(failed)).toMatchObject({ message: 'out of memory' })
    const streamed = assemble(decodeAll(replicateChat, [event('output', 'Hel'), event('prediction', failed)]))
    expect(streamed.failure?.message).toBe('out of memory')
  })
})

describe('DeepL', () => {
  test('receives the user’s last text, with the target language given in the model name', () => {
    expect(deeplTranslate.encodeRequest(asked('deepl-zh')).body).toEqual({
      text: ['Again'],
      target_lang: 'ZH',
      show_billed_characters: true,
    })
    expect(deeplTranslate.encodeRequest(asked('deepl-en-us')).body['target_lang']).toBe('EN-US')
    expect(() => deeplTranslate.encodeRequest(asked('deepl'))).toThrow('deepl-<language>')
  })

  test('bills characters as prompt tokens', () => {
    const reply = deeplTranslate.decodeReply({ translations: [{ text: '再次', billed_characters: 5 }] }, 'seed')
    expect(reply.choices[0]?.parts).toEqual([{ type: 'text', text: '再次' }])
    expect(reply.usage).toEqual({ promptTokens: 5, completionTokens: 0 })
  })

  test('reports status 456 as an exhausted quota and status 403 as an authentication error', () => {
    expect(deeplTranslate.decodeFailure(456, { message: 'Quota exceeded' })).toMatchObject({
      kind: 'quota',
      message: 'Quota exceeded',
    })
    expect(deeplTranslate.decodeFailure(403, { message: 'Forbidden' })).toMatchObject({ kind: 'authentication' })
  })
})
