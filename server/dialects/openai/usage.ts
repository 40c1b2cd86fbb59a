import { readUsage, usageOf } from '../openai-usage.ts'

export { readUsage, usageOf }
