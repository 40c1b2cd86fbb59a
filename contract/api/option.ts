import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

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
}
