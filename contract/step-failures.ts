/** The failures after which a virtual model may take its next step. */
export const stepFailures = [
  'no_channel',
  'overloaded',
  'rate_limited',
  'timeout',
  'server_error',
  'context_too_long',
  'content_filter',
  'refusal',
] as const

export type StepFailure = (typeof stepFailures)[number]

/**
 * The default failures. They do not include content filters and refusals, which are judgments about the content.
 * Another model is used to evade such a judgment only if an operator wants that.
 */
export const usualStepFailures: readonly StepFailure[] = stepFailures.filter(
  (failure) => failure !== 'content_filter' && failure !== 'refusal',
)
