import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { mailField } from './fields.ts'
import { passwordSchema, userFields, usernameSchema, userSchema } from './user.ts'

export const loginBody = z.object({
  username: z.string().check(z.trim(), z.maxLength(100), z.describe('The user name or email address.')),
  password: z.string().check(z.maxLength(200)),
})

/** A code, typed by a person or taken from a link. */
const codeField = z.string().check(z.trim(), z.maxLength(200))

export const registerBody = z.object({
  username: usernameSchema,
  password: passwordSchema,
  password2: z.nullish(
    z
      .string()
      .check(
        z.maxLength(200),
        z.describe('The password again. The server ignores it; only the console compares the two.'),
      ),
  ),
  email: z.nullish(
    z
      .union([z.literal(''), mailField])
      .check(
        z.describe(
          'Email address of the account. Required while the option EmailVerificationEnabled is on; ignored otherwise.',
        ),
      ),
  ),
  verification_code: z.nullish(codeField.check(z.describe('The code that was sent to the email address.'))),
  aff_code: z.nullish(
    z.string().check(z.maxLength(100), z.describe('The invite code of the user who invited the new user.')),
  ),
})

const botAnswer = z.optional(
  z
    .string()
    .check(z.describe('Result of the bot check (Turnstile) in the browser. Required while the bot check is on.')),
)

/** Query parameters of the calls that send an email. */
const mailQuery = z.object({
  email: mailField,
  turnstile: botAnswer,
})

export const authApi = {
  login: endpoint({
    method: 'POST',
    path: '/api/user/login',
    access: 'public',
    critical: true,
    body: loginBody,
    data: userSchema,
    summary: 'Log in and set the session cookie',
  }),
  logout: endpoint({
    method: 'GET',
    path: '/api/user/logout',
    access: 'public',
    changesState: true,
    summary: 'Log out: end the session',
  }),
  register: endpoint({
    method: 'POST',
    path: '/api/user/register',
    access: 'public',
    critical: true,
    query: z.object({ turnstile: botAnswer }),
    body: registerBody,
    ignores: userFields,
    summary: 'Register an account',
  }),
  verification: endpoint({
    method: 'GET',
    path: '/api/verification',
    access: 'public',
    critical: true,
    changesState: true,
    query: mailQuery,
    summary: 'Send a code to an email address, to register with the address or connect it to an account',
  }),
  askReset: endpoint({
    method: 'GET',
    path: '/api/reset_password',
    access: 'public',
    critical: true,
    changesState: true,
    query: mailQuery,
    summary: 'Send a password reset link by email; reports success whether or not an account has the address',
  }),
  reset: endpoint({
    method: 'POST',
    path: '/api/user/reset',
    access: 'public',
    critical: true,
    body: z.object({ email: mailField, token: codeField.check(z.minLength(1)) }),
    data: z.string(),
    summary:
      'Set a new random password, using the token from an emailed link; returns the password and ends all sessions of the account',
  }),
}
