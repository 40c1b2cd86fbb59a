import { type DoctorEvent, doctorEvents, doctorHeader, doctorPurposes } from '../../../contract/api/doctor.ts'
import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { isCode, useCode } from '../../store/accounts/one-time-codes.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * For the confirmation of an event, the stream checks the database up to `confirmSteps` times, every `stepMs`
 * milliseconds.
 */
const confirmSteps = 80
const stepMs = 50
/** After this many wrong secrets for one check, the right one becomes invalid, too. */
const mostAttempts = 3

/**
 * A stream with which the `doctor` command checks the path from the public address to this process. Each event is sent
 * only after the previous one has been confirmed through the database. This detects a proxy that buffers events, no
 * matter how slow the machine is.
 */
export function mountDoctor(
  router: ApiRouter,
  { store, secrets, clock, pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms)) }: Deps,
): void {
  servePublic(router, api.doctor.stream, async ({ context, clientAddress }) => {
    const [subject = '', secret = ''] = (context.req.header(doctorHeader) ?? '').split('.')
    const code = {
      purpose: doctorPurposes.ask,
      subject: subject.slice(0, 64),
      code_hash: secrets.fingerprint(secret, doctorPurposes.ask),
    }
    const isAllowed = await store.write((trx) => useCode(trx, code, epochSeconds(clock), mostAttempts))
    if (!isAllowed) throw new ApiFailure('This check does not exist.')
    const arrived = {
      address: clientAddress,
      socket: context.env?.socketAddress ?? '',
      forwarded: (context.req.header('x-forwarded-for') ?? '').slice(0, 500),
      secure: context.get('secure'),
    }
    return new Response(
      stream((number) => event(number, subject)),
      {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store, no-transform',
          // Tells proxies not to buffer the response, as in streamed calls.
          'x-accel-buffering': 'no',
        },
      },
    )

    async function event(number: number, subject: string): Promise<DoctorEvent> {
      return { number, confirmed: number === 1 || (await isConfirmed(subject, number - 1)), ...arrived }
    }
  })

  async function isConfirmed(subject: string, number: number): Promise<boolean> {
    const name = `${subject}.${number}`
    const code = {
      purpose: doctorPurposes.confirm,
      subject: name,
      code_hash: secrets.fingerprint(name, doctorPurposes.confirm),
    }
    for (let step = 0; step < confirmSteps; step++) {
      if (await isCode(store.read, code, epochSeconds(clock), 1)) return true
      await pause(stepMs)
    }
    return false
  }
}

type Deps = Pick<ApiDeps, 'store' | 'secrets' | 'clock' | 'pause'>

function stream(event: (number: number) => Promise<DoctorEvent>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let number = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        number++
        if (number > doctorEvents) return controller.close()
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(await event(number))}\n\n`))
      },
    },
    { highWaterMark: 0 },
  )
}
