/**
 * The status for a permanent refusal. Codex retries a 401, 402 or 403 five times, and ignores any header that tells it
 * not to. It shows a 400 at once.
 */
export function statusOfRefusal(request: Request, status: number): number {
  return isCodex(request.headers) && (status === 401 || status === 402 || status === 403) ? 400 : status
}

function isCodex(headers: Headers): boolean {
  return /^codex/i.test(headers.get('originator') ?? headers.get('user-agent') ?? '')
}
