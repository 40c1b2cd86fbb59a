import * as z from 'zod/mini'

const count = (description: string) => z.optional(z.int().check(z.describe(description)))
const amount = (description: string) => z.optional(z.number().check(z.describe(description)))
const word = (description: string) => z.optional(z.string().check(z.describe(description)))

/**
 * The parameters of a call that are not content. Words come from fixed lists, so the caller's own text is never stored.
 * A parameter is absent if the request did not have it, or if its value is unknown or out of range.
 */
export const callParametersSchema = z.object({
  max_tokens: count('Maximum number of output tokens.'),
  temperature: amount('Temperature.'),
  top_p: amount('Probability mass for nucleus sampling (`top_p`).'),
  top_k: count('Number of most likely tokens that are considered (`top_k`).'),
  reasoning_effort: word('Reasoning effort, such as low or high.'),
  thinking: word('Whether thinking was requested: enabled, disabled or adaptive.'),
  thinking_tokens: count('Maximum number of reasoning tokens; -1 means that the model decides.'),
  verbosity: word('Length of the response: low, medium or high.'),
  tools: count('Number of tools.'),
  tool_choice: word('The kind of tool choice, such as auto, none, required or function.'),
  response_format: word('The kind of output format, such as json_schema, json_object, b64_json or mp3.'),
  service_tier: word('The service tier, unless it is the default.'),
  choices: count('Number of choices or images, unless it is 1.'),
  messages: count('Number of messages or other items of the conversation.'),
  inputs: count('Number of prompts, texts or documents, in calls other than conversations.'),
  images: count('Number of images in the request.'),
  audio: count('Number of audio parts in the request.'),
  files: count('Number of documents, videos and other files in the request.'),
  size: word('Size of the images, such as 1024x1024.'),
  quality: word('Quality of the images.'),
  dimensions: count('Length of the embedding vectors.'),
})

/** The parameters of a call by name. */
export type CallParameters = z.output<typeof callParametersSchema>

/** How a call was made. */
export const logRequestSchema = z.object({
  path: word('The path of the call, without query. The model in a path is written {model}.'),
  dialect: word(
    'The format of a conversation as the caller sent it: openai-chat, openai-responses, anthropic-messages or gemini.',
  ),
  upstream_dialect: word(
    'The format in which the conversation was last sent upstream; absent if it was not sent. Only for admins.',
  ),
  client: word('Product and version from the User-Agent header, at most 60 characters.'),
  parameters: callParametersSchema.check(z.describe('Parameters of the request that are not content.')),
})

/** How a call was made, as the log returns it. */
export type LogRequest = z.output<typeof logRequestSchema>
