import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { userSchema } from './user.ts'

export const loginBody = z.object({
  /** The user name, or the e-mail address. */
  username: z.string().check(z.trim(), z.maxLength(100)),
  password: z.string().check(z.maxLength(200)),
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
}
