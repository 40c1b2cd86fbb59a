/** The message for callers when a service refuses the operator's key or account. */
export const unavailable = 'the service behind this gateway is currently unavailable'

/** True for a recorded error that concerns the recorder's key or account. */
export function isAboutAccount({ status, responseText }: { status: number; responseText: string }): boolean {
  return [401, 402, 403].includes(status) || /API_KEY_INVALID|"Incorrect API key/.test(responseText)
}

/** True for a recorded error that reports that the prompt does not fit into the model's context. */
export function isTooLong({ responseText }: { responseText: string }): boolean {
  return /maximum context length|max context length|prompt is too long/.test(responseText)
}
