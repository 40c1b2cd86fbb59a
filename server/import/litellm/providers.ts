/** The channel types for the provider prefixes in LiteLLM's model names. */
const types: Readonly<Record<string, number>> = {
  openai: 1,
  'text-completion-openai': 1,
  azure: 3,
  azure_text: 3,
  custom_openai: 50,
  openai_like: 50,
  hosted_vllm: 50,
  vllm: 50,
  lm_studio: 50,
  llamafile: 50,
  litellm_proxy: 50,
  anthropic: 14,
  gemini: 24,
  vertex_ai: 42,
  vertex_ai_beta: 42,
  bedrock: 33,
  bedrock_converse: 33,
  deepseek: 36,
  groq: 29,
  mistral: 28,
  openrouter: 20,
  ollama: 30,
  ollama_chat: 30,
  cohere: 35,
  cohere_chat: 35,
  together_ai: 39,
  xai: 45,
  fireworks_ai: 54,
  nvidia_nim: 55,
  cerebras: 56,
  deepinfra: 57,
  perplexity: 58,
  huggingface: 59,
  sambanova: 60,
  watsonx: 61,
  replicate: 46,
  cloudflare: 37,
  dashscope: 49,
  moonshot: 25,
  minimax: 27,
  volcengine: 40,
  novita: 41,
  zai: 16,
}

export const channelTypes = {
  azure: 3,
  anthropic: 14,
  gemini: 24,
  bedrock: 33,
  vertex: 42,
  ollama: 30,
  compatible: 50,
  watsonx: 61,
}

/** Types of services that people host themselves, often without a key. */
export const worksWithoutKey: ReadonlySet<number> = new Set([channelTypes.ollama, channelTypes.compatible])

/**
 * The provider of a deployment, its channel type (0 = no counterpart), and the model name that is sent to the provider.
 */
export function providerOfModel(model: string, provider: string): { provider: string; type: number; sent: string } {
  const slash = model.indexOf('/')
  const prefix = slash > 0 ? model.slice(0, slash) : ''
  if (provider !== '') {
    const sent = prefix === provider ? model.slice(slash + 1) : model
    return { provider, type: types[provider] ?? 0, sent: plain(provider, sent) }
  }
  if (types[prefix] !== undefined) {
    const sent = model.slice(slash + 1)
    return { provider: prefix, type: types[prefix] ?? 0, sent: plain(prefix, sent) }
  }
  if (prefix !== '') return { provider: prefix, type: 0, sent: model.slice(slash + 1) }
  const guessed = /^claude/.test(model)
    ? 'anthropic'
    : /^(?:anthropic|amazon|meta)\./.test(model)
      ? 'bedrock'
      : 'openai'
  return { provider: guessed, type: types[guessed] ?? 0, sent: model }
}

/**
 * Removes a prefix such as `converse/`, with which LiteLLM selects one of the provider's APIs. The provider expects the
 * name without it.
 */
function plain(provider: string, sent: string): string {
  if (provider.startsWith('bedrock')) return sent.replace(/^(?:converse|invoke|converse_like)\//, '')
  return provider.startsWith('azure') ? sent.replace(/^(?:responses|o_series|gpt5_series)\//, '') : sent
}
