import { readUsage, usageOf } from '../openai-shared/openai-usage.ts'

export { readUsage, usageOf }
