import type { JsonObject } from '../../../../server/lib/json.ts'
import { events, type Fake, halves, type Said, used } from './fake.ts'

const usageMetadata = {
  promptTokenCount: used.prompt,
  candidatesTokenCount: used.completion,
  totalTokenCount: used.prompt + used.completion,
}

const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo'

const refusal: Fake['refusal'] = (status, message) => ({
  status,
  body: {
    error: {
      code: status,
      message,
      ...(status === 429
        ? { status: 'RESOURCE_EXHAUSTED', details: [{ '@type': retryInfo, retryDelay: '7s' }] }
        : { status: 'INVALID_ARGUMENT' }),
    },
  },
})

/** Google's generateContent. */
export const geminiFake: Fake = {
  streams: ({ target }) => target.includes(':streamGenerateContent'),
  whole: (said) => ({
    responseId: said.answerId ?? 'r1',
    modelVersion: 'served-model',
    candidates: [{ index: 0, content: { role: 'model', parts: partsOf(said) }, finishReason: 'STOP' }],
    usageMetadata,
  }),
  pieces(said) {
    const chunk = (part: JsonObject, more: JsonObject = {}) => ({
      responseId: said.answerId ?? 'r1',
      modelVersion: 'served-model',
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...more }],
      usageMetadata: { promptTokenCount: used.prompt },
    })
    const { thought, text, calls } = said
    const parts = [
      ...halves(thought).map((each) => ({ text: each, thought: true })),
      ...halves(text).map((each) => ({ text: each })),
      ...partsOf({ ...said, thought: '', text: '' }),
    ]
    const sealed = said.seal && calls.length === 0 ? { thoughtSignature: said.seal } : {}
    return events(...parts.map((part) => chunk(part)), {
      ...chunk({ text: '', ...sealed }, { finishReason: 'STOP' }),
      usageMetadata,
    })
  },
  refusal,
}

function partsOf({ thought, text, calls, seal }: Said): JsonObject[] {
  const sealed = seal ? { thoughtSignature: seal } : {}
  return [
    ...(thought === '' ? [] : [{ text: thought, thought: true }]),
    ...(text === '' ? [] : [{ text, ...(calls.length === 0 && sealed) }]),
    // Only the first of several parallel calls has a signature.
    ...calls.map(({ name, input }, index) => ({ functionCall: { name, args: input }, ...(index === 0 && sealed) })),
  ]
}

/** Google's PaLM 2, the predecessor of Gemini. */
export const palmFake: Fake = {
  cannot: { reasoning: 'the service shows no thoughts' },
  countsNothing: true,
  streams: () => false,
  whole: ({ text }) => ({ candidates: [{ author: '1', content: text }], messages: [] }),
  pieces: () => [],
  refusal,
}
