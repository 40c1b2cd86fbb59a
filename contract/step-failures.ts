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
 * The default failures. They do not include content filters and refusals. These are judgments about the content, and an
 * operator must explicitly allow the use of another model to evade them.
 */
export const usualStepFailures: readonly StepFailure[] = stepFailures.filter(
  (failure) => failure !== 'content_filter' && failure !== 'refusal',
)
