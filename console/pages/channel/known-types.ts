import type { ChannelTypeEntry } from '../../../contract/api/channel.ts'

/** One channel type of the catalogue. If omitted, `keyHint` is the most common key format and `models` is empty. */
type Row = readonly [type: number, label: string, color: string, keyHint?: string, models?: readonly string[]]

const rows: readonly Row[] = [
  [1, 'OpenAI', 'green'],
  [14, 'Anthropic Claude', 'black', 'sk-ant-…', ['claude-instant-1', 'claude-2']],
  [3, 'Azure OpenAI', 'olive'],
  [11, 'Google PaLM2', 'orange', 'AIza…', ['PaLM-2']],
  [15, 'Baidu ERNIE', 'blue', 'APIKey|SecretKey', ['ERNIE-Bot', 'ERNIE-Bot-turbo', 'Embedding-V1']],
  [17, 'Alibaba Qwen', 'orange', 'sk-…', ['qwen-v1', 'qwen-plus-v1']],
  [18, 'iFlytek Spark', 'blue', 'APPID|APISecret|APIKey', ['SparkDesk']],
  [16, 'Zhipu ChatGLM', 'violet', 'id.secret', ['chatglm_pro', 'chatglm_std', 'chatglm_lite']],
  [
    19,
    '360',
    'blue',
    'sk-…',
    ['360GPT_S2_V9', 'embedding-bert-512-v1', 'embedding_s1_v1', 'semantic_similarity_s1_v1', '360GPT_S2_V9.4'],
  ],
  [8, 'Custom', 'pink'],
  [20, 'OpenRouter', 'black'],
  [2, 'API2D', 'blue'],
  [5, 'OpenAI-SB', 'brown'],
  [7, 'OhMyGPT', 'purple'],
  [10, 'AI Proxy', 'purple'],
  [4, 'CloseAI', 'teal'],
  [6, 'OpenAI Max', 'violet'],
  [9, 'AI.LS', 'yellow'],
  [12, 'API2GPT', 'blue'],
  [13, 'AIGC2D', 'purple'],
]

/**
 * The catalogue of channel types for a server that does not provide one. It contains the types of the console's
 * specification.
 */
export const knownTypes: ChannelTypeEntry[] = rows.map(([type, label, color, keyHint = 'sk-…', models = []]) => ({
  type,
  name: label,
  label,
  color,
  defaultBaseUrl: '',
  models: [...models],
  keyHint,
}))
