/**
 * The names of coding plans that new-api 1.x takes in place of a base URL, and the URL of the OpenAI-compatible API of each (new-api,
 * constant/channel.go, ChannelSpecialBases). new-api also knows one of Anthropic's format.
 */
const codingPlans: Readonly<Record<string, string>> = {
  'glm-coding-plan': 'https://open.bigmodel.cn/api/coding/paas/v4',
  'glm-coding-plan-international': 'https://api.z.ai/api/coding/paas/v4',
  'kimi-coding-plan': 'https://api.kimi.com/coding/v1',
  'doubao-coding-plan': 'https://ark.cn-beijing.volces.com/api/coding/v3',
}

/** The URL of a coding plan; undefined if the text does not name a known one. */
export function codingPlanUrl(baseUrl: string): string | undefined {
  const name = baseUrl.replace(/\/+$/, '')
  return Object.hasOwn(codingPlans, name) ? codingPlans[name] : undefined
}
