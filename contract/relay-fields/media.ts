import * as z from 'zod/mini'
import { field } from './field.ts'

export const embeddingFields = {
  dimensions: field(z.int(), 'Length of the vectors, if the model supports several.'),
  encoding_format: field(z.string(), '`float` or `base64`.'),
  user: field(z.string(), 'An id for the end user.'),
}

export const imageFields = {
  quality: field(
    z.string(),
    'Quality of the image, for example `low`, `medium`, `high` or `hd`. It may change the price.',
  ),
  background: field(z.string(), '`transparent`, `opaque` or `auto`.'),
  output_format: field(z.string(), '`png`, `jpeg` or `webp`.'),
  output_compression: field(z.int(), 'Compression of jpeg and webp, 0 to 100.'),
  response_format: field(z.string(), '`url` or `b64_json`, for models that offer both.'),
  style: field(z.string(), '`vivid` or `natural`, for dall-e-3.'),
  moderation: field(z.string(), '`auto` or `low`.'),
  stream: field(z.boolean(), 'True to stream partial images as events.'),
  partial_images: field(z.int(), 'Number of partial images in a stream, 0 to 3; each is charged.'),
  user: field(z.string(), 'An id for the end user.'),
}

/** Form fields of the two calls that turn speech into text. */
export const transcriptFields = {
  prompt: field(z.string(), 'Text that guides the spelling and style.'),
  temperature: field(z.unknown(), 'Randomness, 0 to 1.'),
}

export const transcriptionFields = {
  ...transcriptFields,
  language: field(z.string(), 'Language of the speech, as an ISO 639-1 code such as `en`.'),
  'timestamp_granularities[]': field(z.unknown(), '`word` or `segment`, with response_format verbose_json.'),
  'include[]': field(z.unknown(), 'More output, such as `logprobs`.'),
  chunking_strategy: field(z.unknown(), 'How a long recording is divided, for example `auto`.'),
  stream: field(z.unknown(), 'True to stream the text as events.'),
}

export const speechFields = {
  instructions: field(z.string(), 'How to speak, for models that support it.'),
  response_format: field(z.string(), '`mp3` (default), `opus`, `aac`, `flac`, `wav` or `pcm`.'),
  speed: field(z.number(), 'Speed, 0.25 to 4.'),
  stream_format: field(z.string(), '`sse` to receive events, `audio` for the plain sound.'),
}
