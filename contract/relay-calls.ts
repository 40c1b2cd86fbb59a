import * as z from 'zod/mini'
import { chatFields, completionFields } from './relay-fields/chat.ts'
import { geminiFields } from './relay-fields/gemini.ts'
import {
  embeddingFields,
  imageFields as imageOptions,
  speechFields,
  transcriptFields,
  transcriptionFields,
} from './relay-fields/media.ts'
import { messagesFields } from './relay-fields/messages.ts'
import { responsesFields } from './relay-fields/responses.ts'
import type { dialectPaths, dialectReads, enginePath, realtimePath, relayPaths, relayReads } from './relay-paths.ts'

/**
 * What the API page shows about one call of the relay. Bodies have OpenAI's format; unknown fields are passed on
 * unchanged.
 */
export interface RelayCallText {
  summary: string
  description?: string
  /** A JSON body. */
  body?: z.ZodMiniType
  /** The fields of a form. */
  form?: z.ZodMiniType
  /** The JSON response, if there is one. */
  answer?: z.ZodMiniType
  /** A GET that becomes a WebSocket. */
  isSocket?: true
  /** Other content types that the response may have, and when it has them. */
  media?: Readonly<Record<string, string>>
}

type RelayAddress =
  | (typeof relayPaths | typeof dialectPaths)[number]['path']
  | (typeof relayReads | typeof dialectReads)[number]
  | typeof enginePath
  | typeof realtimePath

const whole = z.int().check(z.gte(0))
const list = <S extends z.ZodMiniType>(of: S) => z.object({ object: z.literal('list'), data: z.array(of) })

const model = z.string().check(z.maxLength(256), z.describe('Name of the model, as listed by GET /v1/models.'))
const stream = z.nullish(z.boolean().check(z.describe('Stream the response as events.')))
const choices = z.nullish(
  z.int().check(z.gte(1), z.lte(128), z.describe('Number of answers to generate; each is charged.')),
)
const most = z.nullish(
  whole.check(z.describe('Maximum number of completion tokens, which also limits the cost of the call.')),
)
const texts = z.union([z.string(), z.array(z.unknown())]).check(z.describe('A text, several texts, or token ids.'))
const file = z.string().check(z.meta({ description: 'A file.', contentMediaType: 'application/octet-stream' }))

const usage = z
  .looseObject({ prompt_tokens: whole, completion_tokens: z.optional(whole), total_tokens: z.optional(whole) })
  .check(z.describe('The usage of the call, from which the charge is calculated.'))

const streamOptions = z.nullish(
  z
    .looseObject({ include_usage: z.optional(z.boolean()) })
    .check(z.describe('With include_usage, the last event contains the usage.')),
)

const chatBody = z.looseObject({
  model,
  messages: z
    .array(
      z.looseObject({
        role: z.string().check(z.describe('Who speaks: the system, the user, the model or a tool.')),
        content: z.optional(z.unknown()),
      }),
    )
    .check(z.minLength(1), z.describe('The conversation; content is a text or a list of parts.')),
  stream,
  stream_options: streamOptions,
  max_tokens: most,
  max_completion_tokens: most,
  n: choices,
  ...chatFields,
})

const completionBody = z.looseObject({
  model,
  prompt: texts,
  stream,
  stream_options: streamOptions,
  max_tokens: most,
  n: choices,
  best_of: choices,
  ...completionFields,
})

const choiceAnswer = z.looseObject({ choices: z.array(z.looseObject({})), usage: z.optional(usage) })
const events = { 'text/event-stream': 'With stream: one event per chunk, ending with [DONE] or with an error event.' }

const embeddingsBody = (named: z.ZodMiniType) => z.looseObject({ model: named, input: texts, ...embeddingFields })
const embeddingsAnswer = z.looseObject({
  data: z.array(
    z.looseObject({
      embedding: z.union([z.array(z.number()), z.string()]).check(z.describe('Numbers, or base64 if requested.')),
    }),
  ),
  usage: z.optional(usage),
})

const imagesAnswer = z.looseObject({
  data: z.array(z.looseObject({ url: z.optional(z.string()), b64_json: z.optional(z.string()) })),
})
const imageFields = {
  model: z.optional(model),
  n: z.optional(z.unknown()),
  size: z.optional(z.string()),
  ...imageOptions,
}
const imagesForm = z.looseObject({ ...imageFields, image: file, prompt: z.optional(z.string()) })

const soundForm = (fields: Record<string, z.ZodMiniType>) =>
  z.looseObject({
    file,
    model: z.optional(model),
    response_format: z.optional(z.string().check(z.describe('`json`, `text`, `srt`, `verbose_json` or `vtt`.'))),
    ...fields,
  })
const transcript = z.looseObject({ text: z.string() })
const plain = { 'text/plain': 'With a response_format other than JSON.' }

const messagesBody = z.looseObject({
  model,
  max_tokens: z.optional(
    whole.check(z.describe('Maximum number of completion tokens, which also limits the cost of the call.')),
  ),
  messages: z
    .array(
      z.looseObject({
        role: z.string().check(z.describe('Who speaks: the system, the user, the model or a tool.')),
        content: z.unknown(),
      }),
    )
    .check(z.minLength(1)),
  stream,
  ...messagesFields,
})

const responsesBody = z.looseObject({
  model,
  input: z.optional(z.union([z.string(), z.array(z.unknown())]).check(z.describe('A text or a list of items.'))),
  stream,
  max_output_tokens: most,
  previous_response_id: z.nullish(
    z
      .string()
      .check(
        z.describe(
          'Accepted only if a single channel can serve the call, because the previous response is known only to the channel that gave it.',
        ),
      ),
  ),
  ...responsesFields,
})

const compactBody = z.looseObject({
  model,
  input: z
    .union([z.string(), z.array(z.unknown())])
    .check(z.describe('The conversation to compact: a text or a list of items.')),
  instructions: responsesFields.instructions,
  reasoning: responsesFields.reasoning,
})

const contentsBody = z.looseObject({
  contents: z.array(z.looseObject({ parts: z.array(z.looseObject({})) })).check(z.minLength(1)),
  ...geminiFields,
})
const contentsAnswer = z.looseObject({ candidates: z.optional(z.array(z.looseObject({}))) })
const embedBody = z.looseObject({ content: z.looseObject({ parts: z.array(z.looseObject({ text: z.string() })) }) })
const vector = z.looseObject({ values: z.array(z.number()) })
const geminiModel = z.looseObject({ name: z.string(), displayName: z.string() })

/** One model, in OpenAI's format with one-api's additions. */
const modelSchema = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: whole,
  owned_by: z.string(),
  permission: z.array(z.looseObject({})),
  root: z.string(),
  parent: z.null(),
})

const subscription = {
  summary: 'Get all the quota ever given to the token or its owner',
  description:
    'The figures are in currency, or in quota units while DisplayInCurrencyEnabled is off. They are those of the owner while DisplayTokenStatEnabled is off.',
  answer: z.object({
    object: z.literal('billing_subscription'),
    has_payment_method: z.boolean(),
    soft_limit_usd: z.number(),
    hard_limit_usd: z.number(),
    system_hard_limit_usd: z.number(),
    access_until: whole.check(z.describe('When the token expires, in epoch seconds; 0 means never.')),
  }),
}
const billingUsage = {
  summary: 'Get what the token or its owner has used',
  answer: z.object({
    object: z.literal('list'),
    total_usage: z.number().check(z.describe('In hundredths of the unit that the subscription uses.')),
  }),
}

/** `GET /v1/responses`, which opens a WebSocket for the same API. */
export const responsesSocket: RelayCallText = {
  isSocket: true,
  summary: 'Create responses over a WebSocket (OpenAI Responses)',
  description:
    'Works with every channel. Each message of type response.create has the fields of the POST, and is a call of its own. Its events are sent back as messages. With previous_response_id, a turn continues from the last response of the same connection and contains only new items. The first message must arrive within 30 seconds, and a connection may be idle for 300 seconds between turns. An option limits the number of connections of a token.',
}

/** The API page's text for every call in `relay-paths.ts`. */
export const relayCalls: Readonly<Record<RelayAddress, RelayCallText>> = {
  '/v1/chat/completions': { summary: 'Create a chat completion', body: chatBody, answer: choiceAnswer, media: events },
  '/v1/completions': { summary: 'Create a text completion', body: completionBody, answer: choiceAnswer, media: events },
  '/v1/embeddings': { summary: 'Create embeddings', body: embeddingsBody(model), answer: embeddingsAnswer },
  '/v1/engines/{model}/embeddings': {
    summary: 'Create embeddings, with the model in the path',
    body: embeddingsBody(z.optional(model)),
    answer: embeddingsAnswer,
  },
  '/v1/moderations': {
    summary: 'Classify texts for moderation',
    body: z.looseObject({ model: z.optional(model), input: texts }),
    answer: z.looseObject({}),
  },
  '/v1/rerank': {
    summary: 'Rank documents by relevance to a query',
    body: z.looseObject({
      model,
      query: z.string().check(z.minLength(1)),
      documents: z
        .array(z.union([z.string(), z.looseObject({})]))
        .check(z.minLength(1), z.describe('Texts, or objects with a text.')),
      top_n: z.nullish(whole.check(z.describe('Number of results to return; all by default.'))),
      return_documents: z.nullish(z.boolean()),
      max_tokens_per_doc: z
        .nullish(z.int())
        .check(z.describe('Tokens of each document that are read, for models that support it.')),
    }),
    answer: z.looseObject({
      results: z.array(z.looseObject({ index: whole, relevance_score: z.number() })),
    }),
  },
  '/v1/images/generations': {
    summary: 'Generate images',
    body: z.looseObject({ ...imageFields, prompt: z.string().check(z.minLength(1)) }),
    answer: imagesAnswer,
  },
  '/v1/images/edits': {
    summary: 'Edit an image',
    description: 'A form with files, or JSON that contains the URLs of images.',
    body: z.looseObject({ ...imageFields, prompt: z.optional(z.string()) }),
    form: imagesForm,
    answer: imagesAnswer,
  },
  '/v1/images/variations': { summary: 'Create variations of an image', form: imagesForm, answer: imagesAnswer },
  '/v1/audio/speech': {
    summary: 'Turn text into speech',
    body: z.looseObject({
      model,
      input: z.string().check(z.minLength(1)),
      voice: z.optional(z.unknown()),
      ...speechFields,
    }),
    media: {
      'audio/*': 'The sound.',
      'text/event-stream': 'With stream_format sse: events with pieces of the audio.',
    },
  },
  '/v1/audio/transcriptions': {
    summary: 'Transcribe speech',
    form: soundForm(transcriptionFields),
    answer: transcript,
    media: { ...plain, 'text/event-stream': 'With stream: events with pieces of the text.' },
  },
  '/v1/audio/translations': {
    summary: 'Transcribe speech and translate it into English',
    form: soundForm(transcriptFields),
    answer: transcript,
    media: plain,
  },
  '/v1/responses': {
    summary: 'Create a response (OpenAI Responses)',
    description: 'Channels that do not offer this API receive the request in their own format.',
    body: responsesBody,
    answer: z.looseObject({ object: z.literal('response'), output: z.array(z.looseObject({})) }),
    media: { 'text/event-stream': 'With stream: typed events, ending with response.completed or with an error event.' },
  },
  '/v1/responses/compact': {
    summary: 'Compact a conversation (OpenAI Responses)',
    description:
      'Returns one item that takes the place of the conversation in later requests. OpenAI and Azure channels compact it themselves. With other channels, the model writes a summary, which only the same token can use. The call is charged like any other. An input of `/v1/responses` that ends with an item of type `compaction_trigger` does the same.',
    body: compactBody,
    answer: z.looseObject({
      object: z.literal('response.compaction'),
      output: z.array(z.looseObject({})),
      usage: z.nullish(z.looseObject({})),
    }),
  },
  '/v1/realtime': {
    isSocket: true,
    summary: 'Open a session over a WebSocket (OpenAI Realtime)',
    description:
      'For channels whose type offers sessions. Events are passed on unchanged in both directions. Browsers can send the token as the protocol openai-insecure-api-key.sk-… next to realtime. Each response.done is charged by its usage. When the quota runs out, an error event (quota_exhausted_mid_stream) is sent and the session is closed with 1008.',
  },
  '/v1/messages': {
    summary: 'Create a message (Anthropic Messages)',
    description:
      'The token can also be sent in x-api-key. anthropic-version and anthropic-beta are passed on if the channel is Anthropic.',
    body: messagesBody,
    answer: z.looseObject({
      type: z.literal('message'),
      content: z.array(z.looseObject({})),
      usage: z.looseObject({}),
    }),
    media: { 'text/event-stream': 'With stream: message events, ending with message_stop or with an error event.' },
  },
  '/v1/messages/count_tokens': {
    summary: 'Count the tokens of a request (Anthropic)',
    description:
      "Tokens are counted by the service if the channel is Anthropic, otherwise by the gateway's tokenizer. The call costs nothing, but it requires quota and counts towards the limits.",
    body: messagesBody,
    answer: z.looseObject({ input_tokens: whole }),
  },
  '/v1beta/models/{model}:generateContent': {
    summary: 'Generate content (Gemini)',
    description: 'The token can also be sent in x-goog-api-key or ?key=.',
    body: contentsBody,
    answer: contentsAnswer,
  },
  '/v1beta/models/{model}:streamGenerateContent': {
    summary: 'Stream generated content (Gemini)',
    description: 'One JSON array, or events with ?alt=sse.',
    body: contentsBody,
    answer: z.array(contentsAnswer),
    media: { 'text/event-stream': 'With alt=sse.' },
  },
  '/v1beta/models/{model}:countTokens': {
    summary: 'Count the tokens of a request (Gemini)',
    description:
      "Tokens are counted by the service if the channel is Gemini, otherwise by the gateway's tokenizer. The call costs nothing, but it requires quota and counts towards the limits.",
    body: contentsBody,
    answer: z.looseObject({ totalTokens: whole }),
  },
  '/v1beta/models/{model}:embedContent': {
    summary: 'Create an embedding (Gemini)',
    body: embedBody,
    answer: z.looseObject({ embedding: vector }),
  },
  '/v1beta/models/{model}:batchEmbedContents': {
    summary: 'Create several embeddings (Gemini)',
    body: z.looseObject({ requests: z.array(embedBody).check(z.minLength(1)) }),
    answer: z.looseObject({ embeddings: z.array(vector) }),
  },
  '/v1beta/models': {
    summary: 'List the models that the token can use (Gemini)',
    answer: z.object({ models: z.array(geminiModel) }),
  },
  '/v1beta/models/{model}': { summary: 'Get a model (Gemini)', answer: geminiModel },
  '/v1/models': {
    summary: 'List the models that the token can use',
    answer: list(modelSchema),
  },
  '/v1/models/{model}': { summary: 'Get a model', answer: modelSchema },
  '/dashboard/billing/subscription': subscription,
  '/v1/dashboard/billing/subscription': subscription,
  '/dashboard/billing/usage': billingUsage,
  '/v1/dashboard/billing/usage': billingUsage,
}
