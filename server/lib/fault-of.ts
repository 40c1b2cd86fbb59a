import { messageOf } from './message-of.ts'

/** Why the program could not start or a command failed, as a sentence for the operator without its full stop. */
export function faultOf(error: unknown): string {
  const message = messageOf(error)
  const code = String((error as NodeJS.ErrnoException).code)
  // These codes refer to the database, because before it serves requests, the process connects only to the database.
  if (['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'].includes(code))
    return `the database cannot be reached (${message}); check DATABASE_URL`
  // 28 and 3D are PostgreSQL's classes of codes for "access denied" and "no such database". The driver's text for a
  // missing password begins with SASL.
  if (/^(28|3D)/.test(code)) return `the database refuses the connection (${message}); check DATABASE_URL`
  if (message.startsWith('SASL')) return 'the database wants a password, and DATABASE_URL has none'
  return message.replace(/\.$/, '')
}
