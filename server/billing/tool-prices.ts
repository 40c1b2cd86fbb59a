import type { RatioTable } from '../settings/ratio-table.ts'

/** A kind of tool, and the model and channel type that run it. */
export interface PricedTool {
  readonly kind: string
  readonly size?: string | undefined
  /** The model's name at the upstream. */
  readonly model: string
  readonly channelType: number
}

interface ToolRule {
  readonly kind: string
  /** The channel types that the rule matches. If absent, the rule matches every type. */
  readonly types?: readonly number[]
  readonly size?: string
  readonly model?: RegExp
  /** The price per call, in millionths of a currency unit. 10,000 means 10 units per thousand calls. */
  readonly price: number
}

const openAi = [1, 3]
const anthropic = [14, 42, 52]
const google = [24, 42, 51]
const xai = [45]
const perplexity = [58]
const oldGemini = /^gemini-[12]|^gemini-pro/
const claude = /claude/
const sonarPro = /sonar-(?:pro|reasoning)/

/**
 * The vendors' prices per call of their tools, in millionths of a dollar (price lists of OpenAI, Anthropic, Google,
 * xAI, OpenRouter, Groq, Mistral, Perplexity, Zhipu, Alibaba, Moonshot and Baidu, autumn 2026). Prices in yuan are
 * converted at 7 to the dollar. The first matching rule applies.
 */
const rules: readonly ToolRule[] = [
  { kind: 'web_search', model: /deep-research/, types: perplexity, price: 5_000 },
  { kind: 'web_search', model: sonarPro, size: 'medium', price: 10_000 },
  { kind: 'web_search', model: sonarPro, size: 'high', price: 14_000 },
  { kind: 'web_search', model: sonarPro, price: 6_000 },
  { kind: 'web_search', model: /sonar/, size: 'medium', price: 8_000 },
  { kind: 'web_search', model: /sonar/, size: 'high', price: 12_000 },
  { kind: 'web_search', model: /sonar/, price: 5_000 },
  { kind: 'web_search', model: /-search-preview/, price: 25_000 },
  { kind: 'web_search_preview', model: /^(?:gpt-[5-9]|o\d)/, price: 10_000 },
  { kind: 'web_search_preview', price: 25_000 },
  { kind: 'web_search', model: claude, price: 10_000 },
  { kind: 'code_interpreter', types: anthropic, model: claude, price: 4_167 },
  { kind: 'web_search', types: google, model: oldGemini, price: 35_000 },
  { kind: 'web_search', types: google, price: 14_000 },
  { kind: 'enterprise_search', types: google, price: 45_000 },
  { kind: 'maps', types: google, model: oldGemini, price: 25_000 },
  { kind: 'maps', types: google, price: 14_000 },
  // Google charges only the tokens for these tools.
  { kind: 'file_search', types: google, price: 0 },
  { kind: 'code_interpreter', types: google, price: 0 },
  { kind: 'image_generation', types: google, price: 0 },
  { kind: 'image_generation', types: xai, price: 20_000 },
  { kind: 'web_search', types: xai, price: 5_000 },
  { kind: 'x_search', types: xai, price: 5_000 },
  { kind: 'code_interpreter', types: xai, price: 5_000 },
  { kind: 'live_search', types: xai, price: 25_000 },
  { kind: 'web_search', types: [20], price: 20_000 },
  { kind: 'web_search', types: [29], price: 8_000 },
  { kind: 'code_interpreter', types: [29], price: 3_000 },
  { kind: 'web_search', types: [28], price: 30_000 },
  { kind: 'code_interpreter', types: [28], price: 30_000 },
  { kind: 'image_generation', types: [28], price: 100_000 },
  { kind: 'file_search', types: [28], price: 10_000 },
  { kind: 'web_search', types: [16], size: 'search_std', price: 1_429 },
  { kind: 'web_search', types: [16], size: 'search_pro', price: 4_286 },
  { kind: 'web_search', types: [16], price: 7_143 },
  { kind: 'web_search', types: [17, 49], size: 'max', price: 1_429 },
  { kind: 'web_search', types: [17, 49], price: 572 },
  { kind: 'web_search', types: [25], price: 4_286 },
  { kind: 'web_search', types: [15, 47], price: 572 },
  { kind: 'image_generation', types: openAi, size: 'low', price: 16_000 },
  { kind: 'image_generation', types: openAi, size: 'medium', price: 63_000 },
  { kind: 'image_generation', price: 250_000 },
  // The default for all other channel types. Most of them that run these tools are OpenAI's or have the same prices.
  { kind: 'web_search', price: 10_000 },
  { kind: 'file_search', price: 2_500 },
  { kind: 'code_interpreter', price: 30_000 },
]

/**
 * The price of one call of a tool, in millionths of a currency unit. The price in the option's table takes precedence
 * over the built-in price; undefined if there is none. In the option's table, a more specific name takes precedence,
 * such as one with a size or a channel type.
 */
export function toolPrice(table: RatioTable, { kind, size, model, channelType }: PricedTool): bigint | undefined {
  const names = [
    `${kind}:${model}`,
    ...(size ? [`${kind}:${size}(${channelType})`] : []),
    `${kind}(${channelType})`,
    ...(size ? [`${kind}:${size}`] : []),
    kind,
  ]
  // A rule for web search also applies to its preview version.
  if (kind === 'web_search_preview') names.push(`web_search(${channelType})`, 'web_search')
  for (const name of names) {
    const price = table.get(name)
    if (price !== undefined) return price
  }
  const rule = rules.find(
    (each) =>
      each.kind === kind &&
      (each.types === undefined || each.types.includes(channelType)) &&
      (each.size === undefined || each.size === size) &&
      (each.model === undefined || each.model.test(model)),
  )
  return rule && BigInt(rule.price)
}

/**
 * True if the tool is charged once per prompt. Up to Gemini 2, Google charges per grounded prompt, regardless of the
 * number of searches.
 */
export function isPaidByPrompt({ kind, model, channelType }: PricedTool): boolean {
  return (kind === 'web_search' || kind === 'maps') && google.includes(channelType) && oldGemini.test(model)
}
