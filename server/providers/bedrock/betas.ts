import { modelTraits } from '../../dialects/models/claude-model.ts'
import type { HeadersInBody } from '../provider.ts'

/**
 * The names of Anthropic's beta features that Bedrock accepts (Bedrock user guide, "Anthropic Claude Messages API").
 * Bedrock refuses a request with any other name.
 */
const taken: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
])

/**
 * The beta features that the newest models on Bedrock accept. These models support the other features in every request,
 * and refuse a request that lists one of them.
 */
const takenByNewest: ReadonlySet<string> = new Set(['interleaved-thinking-2025-05-14'])

/**
 * Moves the accepted names from the `anthropic-beta` header into the body, as Bedrock requires, and reports the others
 * as dropped.
 */
export function betasInBody(headers: Readonly<Record<string, string>>, model: string): HeadersInBody {
  const values = (headers['anthropic-beta'] ?? '').split(',').map((each) => each.trim())
  const names = [...new Set(values)].filter((each) => each !== '')
  const known = modelTraits(model).fixedSampling ? takenByNewest : taken
  const betas = names.filter((each) => known.has(each))
  return {
    members: betas.length > 0 ? { anthropic_beta: betas } : {},
    dropped: names.filter((each) => !known.has(each)).map((each) => `anthropic-beta.${each}`),
  }
}
