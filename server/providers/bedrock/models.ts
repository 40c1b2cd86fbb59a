/** Maps common model names to Bedrock's model ids ("Supported foundation models in Amazon Bedrock"). */
const ids: Readonly<Record<string, string>> = {
  'claude-instant-1.2': 'anthropic.claude-instant-v1',
  'claude-2.0': 'anthropic.claude-v2',
  'claude-2.1': 'anthropic.claude-v2:1',
  'claude-3-haiku-20240307': 'anthropic.claude-3-haiku-20240307-v1:0',
  'claude-3-sonnet-20240229': 'anthropic.claude-3-sonnet-20240229-v1:0',
  'claude-3-opus-20240229': 'anthropic.claude-3-opus-20240229-v1:0',
  'claude-3-5-sonnet-20240620': 'anthropic.claude-3-5-sonnet-20240620-v1:0',
  'claude-3-5-sonnet-20241022': 'anthropic.claude-3-5-sonnet-20241022-v2:0',
  'claude-3-5-sonnet-latest': 'anthropic.claude-3-5-sonnet-20241022-v2:0',
  'claude-3-5-haiku-20241022': 'anthropic.claude-3-5-haiku-20241022-v1:0',
  'llama3-8b-8192': 'meta.llama3-8b-instruct-v1:0',
  'llama3-70b-8192': 'meta.llama3-70b-instruct-v1:0',
}

/**
 * Models that are served only through inference profiles. The id of a profile begins with the geographic area that
 * serves the call.
 */
const profiled: Readonly<Record<string, string>> = {
  'claude-3-7-sonnet-20250219': 'anthropic.claude-3-7-sonnet-20250219-v1:0',
  'claude-sonnet-4-5': 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  'claude-sonnet-4-5-20250929': 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  'claude-haiku-4-5': 'anthropic.claude-haiku-4-5-20251001-v1:0',
  'claude-haiku-4-5-20251001': 'anthropic.claude-haiku-4-5-20251001-v1:0',
  'claude-opus-4-5': 'anthropic.claude-opus-4-5-20251101-v1:0',
  'claude-opus-4-6': 'anthropic.claude-opus-4-6-v1',
  'claude-sonnet-4-6': 'anthropic.claude-sonnet-4-6',
}

/** The models that the channel form offers. Other models are called by their ids. */
export const bedrockModels: readonly string[] = [
  ...Object.keys(profiled),
  ...Object.keys(ids),
  'amazon.nova-pro-v1:0',
  'amazon.nova-lite-v1:0',
  'amazon.nova-micro-v1:0',
  'us.amazon.nova-2-lite-v1:0',
  'openai.gpt-oss-120b-1:0',
  'qwen.qwen3-32b-v1:0',
  'mistral.mistral-large-3-675b-instruct',
  'us.meta.llama4-maverick-17b-instruct-v1:0',
  'us.deepseek.r1-v1:0',
  'amazon.titan-embed-text-v2:0',
  'cohere.embed-multilingual-v3',
  'amazon.rerank-v1:0',
  'cohere.rerank-v3-5:0',
]

/** The id of a model in a region. A name that is not in the lists above is used as an id. */
export function modelId(model: string, region: string): string {
  const id = profiled[model]
  if (id === undefined) return ids[model] ?? model
  const world = region.slice(0, region.indexOf('-'))
  // Claude 3.7 has a profile for Asia, with the prefix `apac`. Newer models have none, so they use the global profile.
  const elsewhere = world === 'ap' && model.startsWith('claude-3-7') ? 'apac' : 'global'
  return `${world === 'us' || world === 'eu' ? world : elsewhere}.${id}`
}
