/** True if the database rejected a row because another row has the same unique value. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/**
 * True if PostgreSQL aborted a transaction because of a deadlock or a serialization failure. In a serialization
 * failure, two transactions changed rows that the other one had read. The aborted transaction had no effect and may be
 * repeated.
 */
export function isDeadlock(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40P01' || code === '40001'
}

/** True if PostgreSQL did not get a lock within the time limit of the transaction. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** True if another program holds SQLite's write lock. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY'
}

/** True if the disk of the database is full, or if a file has reached its maximum size. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error)
  // 53100 is PostgreSQL's code.
  return ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG', '53100'].includes(code) || code.startsWith('SQLITE_IOERR')
}

/** True if the file of a SQLite database is damaged or is not a database. */
export function isDamaged(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB'
}

/** True if the error came from the database or from the connection to it, not from Tollgate's code. */
export function isDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // SQLiteError is Bun's class. PostgreSQL's errors have a severity, and lost connections have a system code or the
  // driver's text.
  if (error.name === 'SQLiteError' || 'severity' in error) return true
  return (
    /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN)/.test(codeOf(error)) ||
    /connection terminated|timeout exceeded when trying to connect|timeout expired|query read timeout|client has encountered a connection error/i.test(
      error.message,
    )
  )
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
