import type { Translation } from './namespaces.ts'

export const welcomeZh = {
  'welcome.promise': '一个网关，接入所有供应商的模型。',
  'welcome.api': '一个地址、一个密钥。为 OpenAI、Anthropic 或 Gemini 编写的应用无需改动。',
  'welcome.cost': '每个请求都精确计量与计费，价格可解释。',
  'welcome.route': '供应商出错时，请求会自动改走其他渠道。',
} as const satisfies Translation<'welcome'>
