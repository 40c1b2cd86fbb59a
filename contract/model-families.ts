/** Models of one maker that people know by one name, such as Claude. */
export interface ModelFamily {
  id: string
  name: string
  /** The company or laboratory that makes the models. The console derives the mark beside a model from this name. */
  maker: string
}

type Row = readonly [name: RegExp, id: string, familyName: string, maker: string]

/** The first match counts. Names are matched in lower case and without a vendor prefix such as `openai/`. */
const rows: readonly Row[] = [
  // Distilled and derived models belong to the family with which their name begins.
  [/^deepseek/, 'deepseek', 'DeepSeek', 'DeepSeek'],
  [/^(anthropic\.)?claude/, 'claude', 'Claude', 'Anthropic'],
  [
    /^(ft:)?(gpt|chatgpt|o[134](-|$)|codex|computer-use|text-(embedding-(3|ada)|davinci|curie|babbage|ada|moderation)|davinci|babbage|dall-e|whisper|tts-|omni-moderation|sora)/,
    'openai',
    'OpenAI GPT',
    'OpenAI',
  ],
  [
    /^(models\/)?(gemini|gemma|palm|chat-bison|text-bison|imagen|veo|learnlm|aqa|text-embedding-00|text-multilingual-embedding)/,
    'gemini',
    'Gemini',
    'Google',
  ],
  [/^(grok)/, 'grok', 'Grok', 'xAI'],
  [/^(qwen|qwq|qvq|tongyi|wan[x\d]|text-embedding-v\d|gte-|ali-)/, 'qwen', 'Qwen', 'Alibaba'],
  [/^(glm|chatglm|cogview|cogvideo|charglm|codegeex)/, 'glm', 'GLM', 'Zhipu'],
  [/^(kimi|moonshot)/, 'kimi', 'Kimi', 'Moonshot'],
  [/^(minimax|abab|embo-)/, 'minimax', 'MiniMax', 'MiniMax'],
  [
    /^(open-)?(mistral|mixtral|ministral|codestral|pixtral|magistral|devstral|voxtral)/,
    'mistral',
    'Mistral',
    'Mistral AI',
  ],
  [/^(meta\.|meta-)?(llama|codellama)/, 'llama', 'Llama', 'Meta'],
  [/^(cohere\.)?(command|c4ai|embed-(english|multilingual|v\d)|rerank-)/, 'command', 'Command', 'Cohere'],
  [/^(sonar|pplx|r1-1776)/, 'sonar', 'Sonar', 'Perplexity'],
  [/^(ernie|bloomz|tao-8k|embedding-v1)/, 'ernie', 'ERNIE', 'Baidu'],
  [/^(hunyuan|hy\d)/, 'hunyuan', 'Hunyuan', 'Tencent'],
  [/^(doubao|skylark|seedream|seed-)/, 'doubao', 'Doubao', 'ByteDance'],
  [/^(spark|4\.0ultra)/, 'spark', 'Spark', 'iFlytek'],
  [/^(amazon\.|nova-|titan)/, 'nova', 'Amazon Nova', 'Amazon'],
  [/^(nvidia|nemotron|nv-)/, 'nemotron', 'Nemotron', 'NVIDIA'],
  [/^(phi-|wizardlm|mai-)/, 'phi', 'Phi', 'Microsoft'],
  [/^(ibm|granite)/, 'granite', 'Granite', 'IBM'],
  [/^(ai21\.)?(jamba|j2-)/, 'jamba', 'Jamba', 'AI21'],
  [/^(yi-)/, 'yi', 'Yi', '01.AI'],
  [/^(step-)/, 'step', 'Step', 'StepFun'],
  [/^(baichuan)/, 'baichuan', 'Baichuan', 'Baichuan'],
  [/^(mimo)/, 'mimo', 'MiMo', 'Xiaomi'],
  [/^(voyage|rerank-2)/, 'voyage', 'Voyage', 'Voyage AI'],
  [/^(jina)/, 'jina', 'Jina', 'Jina AI'],
  [/^(bge-)/, 'bge', 'BGE', 'BAAI'],
  [/^(flux)/, 'flux', 'FLUX', 'Black Forest Labs'],
  [/^(stability\.|stable-|sd3|sdxl)/, 'stable-diffusion', 'Stable Diffusion', 'Stability AI'],
  [/^(360|semantic_similarity_s1|embedding_s1|embedding-bert)/, '360', '360', '360'],
]

/** The family of all models whose name does not indicate one. */
export const otherFamily: ModelFamily = { id: 'other', name: 'Other models', maker: '' }

const families: readonly ModelFamily[] = rows.map(([, id, name, maker]) => ({ id, name, maker }))

/** A model name without the region, account or vendor in front of it: `us.anthropic.claude-3` → `claude-3`. */
function bare(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:us|eu|ap|apac|jp|au|ca|sa|us-gov|global)\.(?=[a-z0-9-]+\.)/, '')
}

/** The family of a model, judged by its name. */
export function familyOf(model: string): ModelFamily {
  const name = bare(model)
  return families[rows.findIndex(([pattern]) => pattern.test(name))] ?? otherFamily
}

/** All families, in the order in which lists show them. Models without a known family come last. */
export const modelFamilies: readonly ModelFamily[] = [
  ...['openai', 'claude', 'gemini'].flatMap((id) => families.filter((family) => family.id === id)),
  ...families.filter(({ id }) => !['openai', 'claude', 'gemini'].includes(id)),
  otherFamily,
]
