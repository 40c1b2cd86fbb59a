import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { mailField } from './fields.ts'
import { userSchema } from './user.ts'

/**
 * A code from an external service. A missing code counts as an empty one, because the handlers refuse an empty code
 * with a message for users.
 */
const code = z._default(z.string().check(z.trim(), z.maxLength(1000)), '')

export const oauthApi = {
  state: endpoint({
    method: 'GET',
    path: '/api/oauth/state',
    access: 'public',
    critical: true,
    changesState: true,
    data: z.string(),
    summary: 'Create a state, which this browser can use for one external login within ten minutes',
  }),
  githubStart: endpoint({
    method: 'GET',
    path: '/api/oauth/github/start',
    access: 'public',
    critical: true,
    changesState: true,
    data: z.string(),
    summary: 'Get the URL to which to send the browser for a GitHub login, with state and PKCE',
  }),
  github: endpoint({
    method: 'GET',
    path: '/api/oauth/github',
    access: 'public',
    critical: true,
    changesState: true,
    query: z.object({ code, state: z._default(z.string().check(z.maxLength(1000)), '') }),
    data: z.optional(userSchema),
    summary:
      'Log in with GitHub; if the caller is already logged in, connect the GitHub account instead (message = bind)',
  }),
  wechat: endpoint({
    method: 'GET',
    path: '/api/oauth/wechat',
    access: 'public',
    critical: true,
    changesState: true,
    query: z.object({ code }),
    data: userSchema,
    summary: 'Log in with a WeChat code',
  }),
  wechatBind: endpoint({
    method: 'GET',
    path: '/api/oauth/wechat/bind',
    access: 'user',
    critical: true,
    changesState: true,
    query: z.object({ code }),
    summary: "Connect a WeChat account to the caller's account",
  }),
  emailBind: endpoint({
    method: 'GET',
    path: '/api/oauth/email/bind',
    access: 'user',
    critical: true,
    changesState: true,
    query: z.object({ email: mailField, code }),
    summary: "Connect an email address to the caller's account, using the code that was sent to the address",
  }),
}
