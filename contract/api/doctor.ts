import * as z from 'zod/mini'
import { mediaEndpoint } from './endpoint.ts'

/** The header with which the command `doctor` shows that it may ask. */
export const doctorHeader = 'x-tollgate-doctor'

/** What purpose the codes of the command `doctor` have, and those with which it confirms an event. */
export const doctorPurposes = { ask: 'doctor', confirm: 'doctor-event' } as const

/** How many events the stream has. Each one after the first waits until the one before has arrived. */
export const doctorEvents = 3

/** The data of an event. */
export const doctorEvent = z.object({
  number: z.int(),
  /** False if the event before had not arrived after some seconds. */
  confirmed: z.boolean(),
  /** How the request arrived. */
  address: z.string(),
  socket: z.string(),
  forwarded: z.string(),
  secure: z.boolean(),
})

export type DoctorEvent = z.output<typeof doctorEvent>

export const doctorApi = {
  stream: mediaEndpoint({
    method: 'GET',
    path: '/api/doctor',
    access: 'public',
    media: 'text/event-stream',
    summary: 'Report how this request arrived, as a short stream; only for the command `doctor`',
    description: `Needs a secret in the header \`${doctorHeader}\` that works once and that only the command has.`,
  }),
}
