import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { mailField } from './fields.ts'

export const optionApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/option/',
    access: 'admin',
    data: z.array(z.object({ key: z.string(), value: z.string() })),
    summary: 'All options but secrets, as text',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/option/',
    access: 'admin',
    body: z.object({ key: z.string().check(z.maxLength(100)), value: z.string() }),
    summary: 'Change one option; some only root may change',
  }),
  testMail: endpoint({
    method: 'POST',
    path: '/api/option/test_mail',
    access: 'root',
    /** Without an address the mail goes to the caller's own. */
    body: z.object({ email: z.nullish(z.union([z.literal(''), mailField])) }),
    summary: 'Send a mail with the saved settings; a failure says what the mail server said',
  }),
}
