/**
 * The status with which a lasting refusal is told. Codex sends whatever was refused with 401, 402 or 403 five times more, and
 * looks at no header that says better; a 400 it shows at once.
 */
export function statusOfRefusal(request: Request, status: number): number {
  return isCodex(request.headers) && (status === 401 || status === 402 || status === 403) ? 400 : status
}

function isCodex(headers: Headers): boolean {
  return /^codex/i.test(headers.get('originator') ?? headers.get('user-agent') ?? '')
}
