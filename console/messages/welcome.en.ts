/** Texts beside the login. */
export const welcomeEn = {
  'welcome.promise': 'One gateway to the models of every provider.',
  'welcome.api': 'One base URL and one key. Apps written for OpenAI, Anthropic or Gemini work unchanged.',
  'welcome.cost': 'Every request is metered and billed exactly, with the price explained.',
  'welcome.route': 'Requests are retried on another channel when a provider fails.',
} as const
