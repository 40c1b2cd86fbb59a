/** Request parameters besides the messages; a parameter that is undefined is left to the model. */
export interface Parameters {
  system: string
  temperature: number | undefined
  maxTokens: number | undefined
}

/** The form values as the user typed them. */
export interface Settings {
  system: string
  temperature: string
  maxTokens: string
}

export const emptySettings: Settings = { system: '', temperature: '', maxTokens: '' }

const hottest = 2
const mostTokens = 10_000_000

const numberOf = (value: string) => (value.trim() === '' ? undefined : Number(value))

/** Whether the temperature is empty, or a number from 0 to 2. */
export function isTemperature(value: string): boolean {
  const number = numberOf(value)
  return number === undefined || (number >= 0 && number <= hottest)
}

/** Whether the limit is empty, or a whole number of at least 1. */
export function isTokenLimit(value: string): boolean {
  const number = numberOf(value)
  return number === undefined || (Number.isInteger(number) && number >= 1 && number <= mostTokens)
}

/** The request parameters that the input boxes contain; empty boxes give undefined. */
export function parametersOf(settings: Settings): Parameters {
  return {
    system: settings.system,
    temperature: numberOf(settings.temperature),
    maxTokens: numberOf(settings.maxTokens),
  }
}
