import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { mailField } from './fields.ts'
import { passwordSchema, usernameSchema, userSchema } from './user.ts'

export const loginBody = z.object({
  /** The user name, or the e-mail address. */
  username: z.string().check(z.trim(), z.maxLength(100)),
  password: z.string().check(z.maxLength(200)),
})

/** A code as people type it or a link brings it. */
const codeField = z.string().check(z.trim(), z.maxLength(200))

export const registerBody = z.object({
  username: usernameSchema,
  password: passwordSchema,
  /** Needed only while the option EmailVerificationEnabled is on, and ignored otherwise. */
  email: z.nullish(z.union([z.literal(''), mailField])),
  verification_code: z.nullish(codeField),
  /** The invite code of who invited the new person. */
  aff_code: z.nullish(z.string().check(z.maxLength(100))),
})

/** Query of calls that send a mail. */
const mailQuery = z.object({
  email: mailField,
  /** Answer of the bot check's widget, while that check is on. */
  turnstile: z.optional(z.string()),
})

export const authApi = {
  login: endpoint({
    method: 'POST',
    path: '/api/user/login',
    access: 'public',
    body: loginBody,
    data: userSchema,
    summary: 'Log in; sets the session cookie',
  }),
  logout: endpoint({ method: 'GET', path: '/api/user/logout', access: 'public', summary: 'End the session' }),
  register: endpoint({
    method: 'POST',
    path: '/api/user/register',
    access: 'public',
    query: z.object({ turnstile: z.optional(z.string()) }),
    body: registerBody,
    summary: 'Make an account for oneself',
  }),
  verification: endpoint({
    method: 'GET',
    path: '/api/verification',
    access: 'public',
    query: mailQuery,
    summary: 'Send a code to an e-mail address, for registering or binding it',
  }),
  askReset: endpoint({
    method: 'GET',
    path: '/api/reset_password',
    access: 'public',
    query: mailQuery,
    summary: 'Send a link for a new password; answers success whether or not somebody has that address',
  }),
  reset: endpoint({
    method: 'POST',
    path: '/api/user/reset',
    access: 'public',
    body: z.object({ email: mailField, token: codeField.check(z.minLength(1)) }),
    data: z.string(),
    summary: 'Make a new password by the link of that mail; data = the password. Ends all sessions',
  }),
}
