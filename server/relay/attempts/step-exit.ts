import { type ErrorCode, GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { StepExit } from '../call/plan.ts'
import { RefusedAnswer } from '../failures/refused-answer.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'

/**
 * Error codes and types by which services report that a filter rejected the content, in lower case and without
 * separators.
 */
const filterCodes = new Set([
  'contentfilter',
  'contentpolicyviolation',
  'moderationblocked',
  'datainspectionfailed',
  'responsibleaipolicyviolation',
  // Volcengine.
  'sensitivecontentdetected',
  'inputtextsensitivecontentdetected',
  'outputtextsensitivecontentdetected',
  'inputimagesensitivecontentdetected',
  'outputimagesensitivecontentdetected',
  // Hunyuan.
  'operationdenied.textillegaldetected',
  'operationdenied.imageillegaldetected',
])
/**
 * The phrases with which other services report a filter without sending a code, for example DeepSeek, Moonshot,
 * MiniMax, Zhipu and Spark.
 */
const aboutFilter =
  /content (?:management policy|filters?|policy|exists risk)|(?:was|been|is) flagged|flagged (?:by|as|for)|safety (?:system|filter)|considered high risk|violates (?:our |the )?(?:usage|content)|new_sensitive|内容安全|敏感(?:内容|信息)|审核不通过/i

/**
 * The kind of an attempt's failure, which determines the next step. Undefined for a mistake of the caller, because no
 * other model would accept it either.
 */
export function exitOf(failed: AttemptFailed): StepExit | undefined {
  const { error, verdict, failure } = failed
  if (failed instanceof RefusedAnswer) return failed.refusal.exit
  if (failure?.kind === 'context-length') return 'context_too_long'
  if (verdict.unsent || isUnable(error.code)) return 'unable'
  if (isFiltered(failed)) return 'content_filter'
  // The cause is the operator's account at the provider, so the HTTP status does not matter.
  if (verdict.account) return 'server_error'
  if (error.code === 'upstream_timeout' || error.status === 408 || error.status === 504) return 'timeout'
  if (error.status === 429) return 'rate_limited'
  if (error.status === 503 || error.status === 529 || failure?.kind === 'overloaded') return 'overloaded'
  if (error.status === 404 && verdict.retry) return 'no_channel'
  return verdict.retry || error.status >= 500 ? 'server_error' : undefined
}

function isFiltered({ error, shaped, failure, status }: AttemptFailed): boolean {
  if (error.code !== 'bad_response_status_code' || (status >= 500 && error.status >= 500)) return false
  const inner = shaped?.['innererror']
  const words = [shaped?.['code'], shaped?.['type'], failure?.code, failure?.type, isObject(inner) && inner['code']]
  const isCode = (word: unknown) =>
    typeof word === 'string' && filterCodes.has(word.toLowerCase().replaceAll(/[_ -]/g, ''))
  return words.some(isCode) || aboutFilter.test(error.message)
}

const unableCodes: ReadonlySet<ErrorCode> = new Set([
  'mode_not_supported',
  'feature_not_supported',
  'model_not_priced',
  'tier_not_priced',
  'tool_not_priced',
  'thread_not_supported',
])

function isUnable(code: ErrorCode): boolean {
  return unableCodes.has(code)
}

/** The kind of failure of a step (one model of a virtual model) that could not begin. */
export function exitBefore(error: unknown): StepExit | undefined {
  if (!(error instanceof GatewayError)) return undefined
  // No channel serves the step. Steps whose channels are all unhealthy were skipped earlier.
  if (error.code === 'no_available_channel' || isUnable(error.code)) return 'unable'
  return error.code === 'channels_full' ? 'overloaded' : undefined
}
