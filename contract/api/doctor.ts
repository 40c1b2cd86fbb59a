import * as z from 'zod/mini'
import { mediaEndpoint } from './endpoint.ts'

/** The header with the signed code by which the server recognises a request of the `doctor` command. */
export const doctorHeader = 'x-tollgate-doctor'

/** The purposes of the signed codes of the `doctor` command: one for its request, one for confirming an event. */
export const doctorPurposes = { ask: 'doctor', confirm: 'doctor-event' } as const

/** The number of events in the stream. Each event after the first is sent once the previous one is confirmed. */
export const doctorEvents = 3

/** The data of an event. */
export const doctorEvent = z.object({
  number: z.int(),
  /** False if the previous event was not confirmed within some seconds. */
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
