/**
 * Codes and messages of failures that occur before anything is sent to PostgreSQL: network errors, a server that is
 * starting up, and timeouts of the driver.
 */
const unsent = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|57P03)$/
const unsentWords =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated due to connection timeout)$/

/**
 * True if the database rejected the operation because of its content (SQLSTATE classes 22 and 23, SQLite's constraints
 * and types).
 */
export function isRefusal(error: unknown): boolean {
  const code = String((error as { code?: unknown } | undefined)?.code ?? '')
  return /^(2[23]\w{3}|SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE))/.test(code) || error instanceof TypeError
}

/**
 * True if it is certain that nothing was written, because the operation was not sent or the database itself reported
 * the failure.
 */
export function isWithoutEffect(error: unknown): boolean {
  const { code, syscall, severity, message } = (error ?? {}) as Record<string, unknown>
  if (syscall === 'connect' || unsent.test(String(code)) || unsentWords.test(String(message))) return true
  return severity === 'ERROR' || isRefusal(error)
}
