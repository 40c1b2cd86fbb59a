import type { JsonSchema } from './types.ts'

/** Descriptions of fields that mean the same everywhere; a schema's own description takes precedence. */
const words: Readonly<Record<string, string>> = {
  // Envelopes and errors
  message: 'What to tell people; empty where there is nothing to tell.',
  data: 'What was asked for.',
  error: 'What went wrong.',
  code: 'Code of the error, for programs.',
  details: 'More about it, for programs.',
  type: 'Kind.',
  // Rows
  id: 'What it is known by: the number of the row, or the id of an answer.',
  name: 'Its name.',
  status: 'Its state.',
  user_id: 'The account it belongs to.',
  username: 'Name of the account.',
  password: 'The password; empty in answers.',
  display_name: 'The name that people see.',
  email: 'E-mail address; empty = none.',
  role: '1 user, 10 admin, 100 root.',
  group: 'The group, or the groups separated by commas.',
  quota: 'Quota units.',
  remain_quota: 'Quota units left.',
  unlimited_quota: 'True = it has no limit of its own.',
  expired_time: 'Epoch seconds; -1 = never.',
  models: 'Names of models; separated by commas where it is a text.',
  subnet: 'CIDRs that calls may come from, separated by commas; nothing = anywhere.',
  github_id: 'Name at GitHub; empty = none.',
  wechat_id: 'Id at WeChat; empty = none.',
  lark_id: 'Id at Lark; empty = none.',
  oidc_id: 'Id at the OpenID Connect provider; empty = none.',
  aff_code: 'An invite code.',
  remark: 'A note for the log.',
  redeemed_user_id: 'Who redeemed it; 0 = nobody yet.',
  ids: 'Numbers of the rows.',
  action: 'What is done, or was.',
  key: 'The key.',
  description: 'What it is for.',
  default: 'Value where nobody set one.',
  label: 'The name that people see.',
  displayName: 'The name that people see.',
  version: 'Version.',
  // Channels
  weight: 'Share among channels of equal priority.',
  priority: 'Higher is tried first.',
  base_url: "Address of the upstream; empty = the type's own.",
  other: 'What the type needs beyond the key, such as an API version.',
  model_mapping: 'JSON object text: asked model → model sent upstream.',
  config: 'JSON object text with settings of this channel.',
  system_prompt: 'Put in front of every chat.',
  key_mode: 'multi = several keys used in turn.',
  key_append: 'True = the lines of the key are added to those that the channel has.',
  balance: 'What the upstream says is left there, in its own currency.',
  otherDefault: 'Value of `other` where it is left empty.',
  response_time: 'Milliseconds.',
  ok: 'True where it passed.',
  index: 'Place in the list, from 0.',
  since: 'Epoch seconds.',
  time: 'Epoch seconds.',
  scope: 'What is tested.',
  running: 'True while it runs.',
  done: 'How many are done.',
  failed: 'How many of them failed.',
  total: 'The sum, or how many there are.',
  started_at: 'Epoch seconds; 0 = never.',
  finished_at: 'Epoch seconds; 0 = not yet.',
  healthy: 'True where it is used.',
  // Logs and usage
  content: 'What is said: a text, or parts of one.',
  token_name: 'Name of the token.',
  model_name: 'Name of the model.',
  prompt_tokens: 'Tokens of the prompt.',
  completion_tokens: 'Tokens of the answer.',
  total_tokens: 'Tokens of both.',
  cached_tokens: 'Tokens of the prompt that were read from a cache.',
  reasoning_tokens: 'Tokens of the answer that are thought.',
  input_tokens: 'Tokens of the prompt.',
  totalTokens: 'Tokens of the prompt.',
  is_stream: 'True for an answer that was streamed.',
  system_prompt_reset: "True where the channel's system prompt took the place of the caller's.",
  token: 'Tokens of prompts and answers.',
  types: 'How many rows there are of each kind.',
  count: 'How many.',
  metric: 'What is measured.',
  group_by: 'What the sums are told apart by.',
  rollup: 'True = what is not named is one sum.',
  previous: 'The same of the period before.',
  values: 'The numbers, in order.',
  unit: 'What it is counted in.',
  rates: 'What it costs, by what it is.',
  completion_ratio: 'Ratio of tokens of the answer to those of the prompt.',
  default_completion_ratio: 'The same where nobody set one.',
  Day: 'The day, YYYY-MM-DD.',
  ModelName: 'Name of the model.',
  RequestCount: 'Calls.',
  Quota: 'Quota units.',
  PromptTokens: 'Tokens of the prompts.',
  CompletionTokens: 'Tokens of the answers.',
  actor_id: 'Who did it; 0 = nobody who was logged in.',
  actor_name: 'Name of who did it, as it was then.',
  target: 'What it was done to.',
  target_timestamp: 'Epoch seconds up to which rows are deleted.',
  ip: 'Address that it came from.',
  detail: 'What changed.',
  reason: 'Why.',
  // Options and status
  kind: 'Kind of value.',
  min: 'Least value.',
  max: 'Greatest value.',
  secret: 'True = the value is never shown.',
  is_set: 'True where a value is stored.',
  writer: 'Who may write it.',
  tab: 'Page of the settings it stands on.',
  section: 'Part of that page.',
  section_title: 'Heading of that part.',
  value: 'The value, as text.',
  system_name: 'Name of this installation.',
  logo: 'Address of its logo.',
  server_address: 'Public address of this server.',
  top_up_link: 'Where quota is sold.',
  chat_link: 'A chat program that opens with a token.',
  github_oauth: 'True where people may log in with GitHub.',
  github_client_id: "The client id of this installation's app at GitHub.",
  wechat_login: 'True where people may log in with WeChat.',
  wechat_qrcode: 'Address of the code to scan.',
  turnstile_site_key: 'Key of the bot check for pages.',
  register_enabled: 'True where people may make accounts.',
  password_login_enabled: 'True where people may log in with a password.',
  password_register_enabled: 'True where people may make accounts with a password.',
  verification_code: 'The code that was sent by mail.',
  password2: 'The password again.',
  state: 'A word that comes back with the login, so that it is known to be ours.',
  // Billing in OpenAI's form
  soft_limit_usd: 'Limit in US dollars.',
  hard_limit_usd: 'Limit in US dollars.',
  system_hard_limit_usd: 'Limit in US dollars.',
  has_payment_method: 'Always true.',
  // The relay
  model: 'Name of the model.',
  messages: 'The conversation so far.',
  contents: 'The conversation so far.',
  parts: 'What is said, in pieces.',
  text: 'A text.',
  stream: 'True = the answer comes in events.',
  stream_options: 'How it is streamed.',
  include_usage: 'True = the last event tells the usage.',
  max_tokens: 'Most tokens of the answer.',
  max_completion_tokens: 'Most tokens of the answer.',
  max_output_tokens: 'Most tokens of the answer.',
  n: 'How many answers.',
  best_of: 'How many answers are made, the best of which are given.',
  prompt: 'What the model is to go by.',
  input: 'What the model is given.',
  size: 'Width and height in pixels, as in 1024x1024.',
  response_format: 'The form of the answer.',
  voice: 'Who speaks.',
  query: 'What the documents are compared with.',
  top_n: 'How many of the documents are wanted.',
  return_documents: 'True = the texts of the documents come back.',
  results: 'The documents by how well they fit.',
  relevance_score: 'How well it fits, from 0 to 1.',
  previous_response_id: 'The answer that this one goes on from.',
  generationConfig: 'How the answer is made.',
  requests: 'Several of them at once.',
  choices: 'The answers.',
  candidates: 'The answers.',
  output: 'What was answered.',
  usage: 'Tokens that were used.',
  url: 'Address of it.',
  b64_json: 'The bytes in base64.',
  embedding: 'The vector.',
  embeddings: 'The vectors.',
  created: 'Epoch seconds.',
  owned_by: 'Who makes it.',
  permission: 'Kept for old programs.',
  root: 'The same id.',
  parent: 'Always null.',
}

/** Descriptions of query parameters whose meaning differs from that of a field with the same name. */
const queryWords: Readonly<Record<string, string>> = {
  ...words,
  code: 'The code that the other service, or the mail, gave.',
}

/** The description of a query parameter, if its schema has none. */
export function wordsOfQuery(name: string): string | undefined {
  return queryWords[name]
}

/** Returns the part of the document with a description for every field of every schema; examples are left unchanged. */
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
