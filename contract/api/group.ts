import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

export const groupApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/group/',
    access: 'admin',
    data: z.array(z.string()),
    summary: 'List the names of all groups',
  }),
  ratios: endpoint({
    method: 'GET',
    path: '/api/group/ratios',
    access: 'admin',
    data: z.record(z.string(), z.number()),
    summary: 'List all groups with their ratios',
  }),
}
