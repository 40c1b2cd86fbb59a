import * as z from 'zod/mini'
import { shared } from './chat.ts'
import { field } from './field.ts'

/** The fields of the Responses API beyond the model, the input and the limits. */
export const responsesFields = {
  ...shared,
  instructions: field(z.string(), 'System prompt, inserted before the input.'),
  tools: field(
    z.array(z.looseObject({})),
    'Tools that the model may call: functions, custom tools, namespaces of tools, and tools that the upstream runs, such as `web_search` or `image_generation`. A tool that the upstream runs needs a price.',
  ),
  tool_choice: field(
    z.unknown(),
    '`auto`, `none`, `required`, or an object that names one tool or a list of allowed tools.',
  ),
  text: field(
    z.looseObject({}),
    'The format of the response (`format`: text, json_object or json_schema) and its length (`verbosity`).',
  ),
  reasoning: field(
    z.looseObject({}),
    'How much the model reasons (`effort`) and whether it summarises its reasoning (`summary`).',
  ),
  include: field(
    z.array(z.string()),
    'More output, for example `reasoning.encrypted_content` or `message.output_text.logprobs`.',
  ),
  truncation: field(
    z.string(),
    '`auto` drops the oldest items if the input does not fit. Only for channels in this dialect.',
  ),
  store: field(
    z.boolean(),
    'True to have the upstream keep the response. Only for channels in this dialect; the gateway does not store responses.',
  ),
  background: field(
    z.boolean(),
    '`true` has the upstream make the response after the call has been answered. Fetch it with `GET /v1/responses/{id}`. It is charged when it ends, and its quota is held until then. Only for channels in this dialect.',
  ),
  max_tool_calls: field(z.int(), 'Maximum number of calls of tools that the upstream runs.'),
  frequency_penalty: field(z.number(), 'As in chat; for upstreams that follow the Open Responses specification.'),
  presence_penalty: field(z.number(), 'As in chat; for upstreams that follow the Open Responses specification.'),
  stream_options: field(z.looseObject({}), 'Options for the stream, for example `include_obfuscation`.'),
}
