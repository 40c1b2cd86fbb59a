import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/** `none` means that there were too few requests to judge. */
export const serviceStates = ['up', 'degraded', 'down', 'none'] as const

export type ServiceState = (typeof serviceStates)[number]

const state = z.enum(serviceStates)
const percentage = z
  .nullable(z.number())
  .check(
    z.describe(
      'Percentage of requests that were served, not counting requests that failed because of the caller; null if there were too few requests to tell.',
    ),
  )

const familySchema = z.object({
  id: z.string(),
  name: z.string().check(z.describe('Name of the model family, such as Claude.')),
  state: state.check(z.describe('The state in the last one to two hours.')),
  uptime: percentage,
  days: z
    .array(z.object({ state, uptime: percentage }))
    .check(z.describe('90 days (UTC), oldest first; the last one is today.')),
})

export type ServiceFamily = z.output<typeof familySchema>

const incidentSchema = z.object({
  family: z.string().check(z.describe('Name of the model family.')),
  state: state.check(z.describe('The worst state during the incident.')),
  from: z.int().check(z.describe('Start of the first hour with errors, in epoch seconds.')),
  to: z.int().check(z.describe('End of the last hour with errors, in epoch seconds; 0 while the incident lasts.')),
  text: z.string().check(z.describe('The incident as an English sentence.')),
})

export type Incident = z.output<typeof incidentSchema>

export const statusPageApi = {
  read: endpoint({
    method: 'GET',
    path: '/api/status-page',
    access: 'public',
    data: z.object({
      updated: z.int().check(z.describe('Epoch seconds.')),
      state,
      first_day: z.int().check(z.describe('Start of the first of the 90 days in epoch seconds.')),
      families: z
        .array(familySchema)
        .check(z.describe('The model families, in the order in which the status page lists them.')),
      incidents: z.array(incidentSchema).check(z.describe('Incidents of today (UTC), newest first.')),
    }),
    summary: 'Get the state of the service: 90 days by model family, and the incidents of today',
    description: 'Status 404 unless the option `StatusPageEnabled` is on. The response may be 30 seconds old.',
  }),
}

export type StatusPage = z.output<typeof statusPageApi.read.data>
