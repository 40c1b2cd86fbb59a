import * as z from 'zod/mini'
import { field } from './field.ts'

/** The fields of Anthropic's Messages beyond the model, the messages and the limits. */
export const messagesFields = {
  system: field(z.unknown(), 'System prompt: a text, or a list of text parts, which may have cache marks.'),
  temperature: field(z.number(), 'Randomness, 0 to 1.'),
  top_p: field(z.number(), 'Nucleus sampling, 0 to 1.'),
  top_k: field(
    z.int(),
    'Considers only this many of the most likely tokens. Dropped for upstreams that do not have it.',
  ),
  stop_sequences: field(z.array(z.string()), 'Texts at which the response ends.'),
  tools: field(
    z.array(z.looseObject({})),
    'Tools that the model may call (`name`, `description`, `input_schema`), and tools that the upstream runs, such as `web_search_20250305`. A tool that the upstream runs needs a price.',
  ),
  tool_choice: field(
    z.looseObject({ type: z.string().check(z.describe('`auto`, `any`, `tool` or `none`.')) }),
    'Which tools the model may or must call. `disable_parallel_tool_use` allows at most one call.',
  ),
  thinking: field(
    z.looseObject({ type: z.string().check(z.describe('`enabled`, `adaptive` or `disabled`.')) }),
    'Extended thinking. With `enabled`, `budget_tokens` sets its maximum length.',
  ),
  output_config: field(
    z.looseObject({}),
    'The effort (`effort`: low to max) and the format (`format`: a JSON schema) of the response.',
  ),
  cache_control: field(
    z.looseObject({}),
    'Caches the prompt up to its end, with `ttl` 5m or 1h. Parts of the prompt can have marks of their own.',
  ),
  metadata: field(z.looseObject({}), '`user_id`: an id for the end user.'),
  service_tier: field(z.string(), '`auto` or `standard_only`.'),
  thread: field(
    z.looseObject({}),
    'Continues a conversation that the upstream has stored. Only for channels of type Anthropic; the errors are `thread_not_supported` and `thread_not_found`.',
  ),
}
