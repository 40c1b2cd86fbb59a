/** The levels of reasoning effort. Every provider with such a parameter supports them. */
export const efforts = ['low', 'medium', 'high'] as const

export type Effort = (typeof efforts)[number]

/** Request parameters for one model. If a parameter is undefined, the model's default applies. */
export interface Parameters {
  system: string
  temperature: number | undefined
  topP: number | undefined
  maxTokens: number | undefined
  effort: Effort | undefined
}

/** The form values as the user typed them. */
export interface Settings {
  system: string
  temperature: string
  topP: string
  maxTokens: string
  effort: string
}

export const emptySettings: Settings = { system: '', temperature: '', topP: '', maxTokens: '', effort: '' }

const hottest = 2
const mostTokens = 10_000_000

const numberOf = (value: string) => (value.trim() === '' ? undefined : Number(value))

/** Whether the temperature is empty, or a number from 0 to 2. */
export function isTemperature(value: string): boolean {
  const number = numberOf(value)
  return number === undefined || (number >= 0 && number <= hottest)
}

/** Whether top_p is empty, or a number from 0 to 1. */
export function isTopP(value: string): boolean {
  const number = numberOf(value)
  return number === undefined || (number >= 0 && number <= 1)
}

/** Whether the limit is empty, or a whole number of at least 1. */
export function isTokenLimit(value: string): boolean {
  const number = numberOf(value)
  return number === undefined || (Number.isInteger(number) && number >= 1 && number <= mostTokens)
}

/** Whether every box contains a value that can be sent. */
export function areValid({ temperature, topP, maxTokens }: Settings): boolean {
  return isTemperature(temperature) && isTopP(topP) && isTokenLimit(maxTokens)
}

/** The request parameters that the input boxes contain; empty boxes give undefined. */
export function parametersOf(settings: Settings): Parameters {
  return {
    system: settings.system,
    temperature: numberOf(settings.temperature),
    topP: numberOf(settings.topP),
    maxTokens: numberOf(settings.maxTokens),
    effort: efforts.find((each) => each === settings.effort),
  }
}
