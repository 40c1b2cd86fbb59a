import type { JsonSchema } from './types.ts'

/** Descriptions of fields that have the same meaning everywhere. A schema's own description takes precedence. */
const words: Readonly<Record<string, string>> = {
  // Envelopes and errors
  message: 'Message for people; empty if there is nothing to report.',
  data: 'The requested data.',
  error: 'What went wrong.',
  code: 'Error code, for programs.',
  details: 'More about the error, for programs.',
  type: 'Kind.',
  // Rows
  id: 'Identifier: the id of a row, or of a response.',
  name: 'Name.',
  status: 'State.',
  user_id: 'Id of the account to which the row belongs.',
  username: 'Name of the account.',
  password: 'The password; empty in responses.',
  display_name: 'The name that people see.',
  email: 'Email address; empty means none.',
  role: '1 user, 10 admin, 100 root.',
  group: 'The group, or several groups separated by commas.',
  project: 'Project for which a token is used; empty means none.',
  quota: 'Quota units.',
  remain_quota: 'Quota units left.',
  unlimited_quota: 'True if the token has no quota limit of its own.',
  expired_time: 'Epoch seconds; -1 means never.',
  models: 'Names of models; separated by commas if the value is a text.',
  subnet: 'CIDRs from which calls are accepted, separated by commas; null or empty means anywhere.',
  github_id: 'Login name at GitHub; empty means none.',
  wechat_id: 'Id at WeChat; empty = none.',
  lark_id: 'Id at Lark; empty = none.',
  oidc_id: 'Id at the OpenID Connect provider; empty means none.',
  aff_code: 'An invite code.',
  remark: 'A note for the log.',
  redeemed_user_id: 'Id of the user who redeemed the code; 0 means nobody yet.',
  ids: 'Ids of the rows.',
  action: 'The action to perform, or the action that was performed.',
  key: 'The key.',
  description: 'Description for people.',
  default: 'Value that applies if none has been set.',
  label: 'The name that people see.',
  displayName: 'The name that people see.',
  version: 'Version.',
  // Channels
  weight: 'Share of calls among channels of the same priority.',
  priority: 'Channels with a higher priority are tried first.',
  base_url: 'Base URL of the upstream; empty means the default URL of the type.',
  other: 'What the type needs in addition to the key, such as an API version.',
  model_mapping: 'Text of a JSON object that maps requested models to the models sent upstream.',
  config: 'Text of a JSON object with the settings of this channel.',
  system_prompt: 'System prompt for every chat. It replaces the system prompt of the caller.',
  key_mode: 'multi means that several keys are used in turn.',
  key_append: 'True to add the lines of the key to the keys that the channel already has.',
  balance: 'Remaining balance that the upstream reports, in its own currency.',
  otherDefault: 'Value of `other` if it is left empty.',
  response_time: 'Milliseconds.',
  ok: 'True if the test passed.',
  index: 'Position in the list: from 0 in the results of a rerank, from 1 in the keys of a channel.',
  since: 'Epoch seconds.',
  time: 'Epoch seconds.',
  scope: 'Which channels are tested.',
  running: 'True while the run is in progress.',
  done: 'Number of items that are done.',
  failed: 'Number of these items that failed.',
  total: 'The total number or amount.',
  started_at: 'Epoch seconds; 0 means never.',
  finished_at: 'Epoch seconds; 0 means not yet.',
  healthy: 'True if the key is in use.',
  // Logs and usage
  content: 'The content: a text, or a list of parts.',
  token_name: 'Name of the token.',
  model_name: 'Name of the model.',
  prompt_tokens: 'Number of prompt tokens.',
  completion_tokens: 'Number of completion tokens.',
  total_tokens: 'Number of prompt and completion tokens together.',
  cached_tokens: 'Number of prompt tokens that were read from a cache.',
  reasoning_tokens: 'Number of completion tokens that the model used for reasoning.',
  input_tokens: 'Number of prompt tokens.',
  totalTokens: 'Number of prompt tokens.',
  is_stream: 'True if the response was streamed.',
  system_prompt_reset: "True if the channel's system prompt replaced the caller's.",
  token:
    'In statistics, the number of prompt and completion tokens; in a password reset, the token from the emailed link.',
  types: 'Number of rows of each type, in each bucket.',
  count: 'How many.',
  metric: 'What is measured.',
  group_by: 'The dimension by which usage is grouped.',
  rollup: 'The period that one bucket covers.',
  by: 'What each row represents.',
  and: 'The second dimension.',
  calls: 'All calls, including those that failed and cost nothing.',
  share: 'Part of the whole, from 0 to 1.',
  previous: 'The same figures for the preceding period of the same length.',
  values: 'The numbers, in order.',
  unit: 'The unit in which the value is counted.',
  rates: 'Prices, by kind of input and output.',
  completion_ratio: 'Price of a completion token relative to a prompt token.',
  default_completion_ratio: 'The completion ratio that applies if none has been set.',
  Day: 'The day, YYYY-MM-DD.',
  ModelName: 'Name of the model.',
  RequestCount: 'Calls.',
  Quota: 'Quota units.',
  PromptTokens: 'Number of prompt tokens.',
  CompletionTokens: 'Number of completion tokens.',
  actor_id: 'Id of the user who performed the action; 0 means that nobody was logged in.',
  actor_name: 'Name of the user in `actor_id`, at the time of the action.',
  target: 'What the action was applied to.',
  target_timestamp: 'Rows older than this time in epoch seconds are deleted.',
  ip: 'Address from which the request came.',
  detail: 'What changed.',
  reason: 'Why.',
  // Options and status
  kind: 'Kind of value.',
  min: 'Smallest value.',
  max: 'Greatest value.',
  secret: 'True if the value is never shown.',
  is_set: 'True if a value is stored.',
  writer: 'The lowest role that can change the option.',
  tab: 'Tab of the settings page that contains the option.',
  section: 'Section of the settings page that contains the option.',
  section_title: 'Heading of the section.',
  value: 'The value, as text.',
  system_name: 'Name of this installation.',
  logo: 'URL of the logo.',
  server_address: 'Public address of this server.',
  top_up_link: 'URL at which people can get quota.',
  chat_link: 'URL of a chat page that can be opened with a token.',
  github_oauth: 'True if people can log in with GitHub.',
  github_client_id: "Client id of this installation's GitHub OAuth application.",
  wechat_login: 'True if people can log in with WeChat.',
  wechat_qrcode: 'URL of the QR code to scan.',
  turnstile_site_key: 'Site key of the bot check.',
  register_enabled: 'True if people can create accounts.',
  password_login_enabled: 'True if people can log in with a password.',
  password_register_enabled: 'True if people can create accounts with a password.',
  verification_code: 'The code that was sent by email.',
  password2: 'The password again.',
  state: 'A random text that comes back at the end of the login. It proves that the login was started in this browser.',
  // Billing in OpenAI's form
  soft_limit_usd: 'Limit in US dollars, or in quota units while DisplayInCurrencyEnabled is off.',
  hard_limit_usd: 'Limit in US dollars, or in quota units while DisplayInCurrencyEnabled is off.',
  system_hard_limit_usd: 'Limit in US dollars, or in quota units while DisplayInCurrencyEnabled is off.',
  has_payment_method: 'Always true.',
  // The relay
  model: 'Name of the model.',
  messages: 'The conversation so far.',
  contents: 'The conversation so far.',
  parts: 'The content, in pieces.',
  text: 'A text.',
  stream: 'True to stream the response as events.',
  stream_options: 'Options for the stream.',
  include_usage: 'True to include the usage in the last event.',
  max_tokens: 'Maximum number of completion tokens.',
  max_completion_tokens: 'Maximum number of completion tokens.',
  max_output_tokens: 'Maximum number of completion tokens.',
  n: 'Number of answers to generate.',
  best_of: 'Number of completions to generate; the best of them are returned.',
  prompt: 'The prompt for the model.',
  input: 'The input for the model.',
  size: 'Width and height in pixels, such as 1024x1024.',
  response_format: 'The format of the response.',
  voice: 'The voice to use.',
  query: 'The query with which the documents are compared.',
  top_n: 'Number of documents to return.',
  return_documents: 'True to return the texts of the documents.',
  results: 'The documents, ordered by how well they match.',
  relevance_score: 'How well the document matches the query, from 0 to 1.',
  previous_response_id: 'Id of the response that this one continues.',
  generationConfig: 'Settings for generating the response.',
  requests: 'Several requests, processed together.',
  choices: 'The answers.',
  candidates: 'The answers.',
  output: 'The output of the model.',
  usage: 'Number of tokens used.',
  url: 'The URL.',
  b64_json: 'The image data in base64.',
  embedding: 'The vector.',
  embeddings: 'The vectors.',
  created: 'Epoch seconds.',
  owned_by: 'Owner of the model.',
  permission: 'Kept for old clients.',
  root: 'The same as `id`.',
  parent: 'Always null.',
}

/** Descriptions of query parameters whose meaning differs from that of a field with the same name. */
const queryWords: Readonly<Record<string, string>> = {
  ...words,
  code: 'The code from the external service or from the email.',
}

/** The description of a query parameter, if its schema has none. */
export function wordsOfQuery(name: string): string | undefined {
  return queryWords[name]
}

/** Adds a description to every field of every schema in a part of the document. Examples are left unchanged. */
export function withWords<Part extends object>(part: Part): Part {
  return described(part) as Part
}

function described(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(described)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    key === 'properties'
      ? fieldsWith(each as Record<string, JsonSchema>)
      : key.startsWith('example')
        ? each
        : described(each),
  ])
  return Object.fromEntries(entries)
}

function fieldsWith(fields: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      const { description = schema.$ref ? undefined : words[name] } = schema
      return [name, { ...(described(schema) as JsonSchema), ...(description && { description }) }]
    }),
  )
}
