/**
 * The names of coding plans that new-api 1.x accepts instead of a base URL, each with the URL of its OpenAI-compatible
 * API (new-api, constant/channel.go, ChannelSpecialBases). For each plan, new-api also has a URL for Anthropic's
 * format.
 */
const codingPlans: Readonly<Record<string, string>> = {
  'glm-coding-plan': 'https://open.bigmodel.cn/api/coding/paas/v4',
  'glm-coding-plan-international': 'https://api.z.ai/api/coding/paas/v4',
  'kimi-coding-plan': 'https://api.kimi.com/coding/v1',
  'doubao-coding-plan': 'https://ark.cn-beijing.volces.com/api/coding/v3',
}

/** The URL of a coding plan; undefined if the text is not the name of a known plan. */
export function codingPlanUrl(baseUrl: string): string | undefined {
  const name = baseUrl.replace(/\/+$/, '')
  return Object.hasOwn(codingPlans, name) ? codingPlans[name] : undefined
}
