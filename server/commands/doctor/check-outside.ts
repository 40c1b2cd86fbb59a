import {
  type DoctorEvent,
  doctorApi,
  doctorEvent,
  doctorEvents,
  doctorHeader,
  doctorPurposes,
} from '../../../contract/api/doctor.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { parseInput } from '../../http/parse-input.ts'
import { epochSeconds, systemClock } from '../../lib/clock.ts'
import { tryParse } from '../../lib/json.ts'
import { messageOf } from '../../lib/message-of.ts'
import { isMetadataHost } from '../../lib/network/metadata-address.ts'
import { randomBase62 } from '../../lib/secrets/ids.ts'
import { saveCode } from '../../store/accounts/one-time-codes.ts'
import { allChannels } from '../../store/channels/channels.ts'
import { databaseFacts } from '../../store/connection/database-facts.ts'
import { type Check, type Finding, fail, ok, type Patient, warn } from './check.ts'

const askedUpstreams = 3
const requestMs = 5000
/** If a clock is off by more than this, login codes and limits per minute do not work correctly. */
const wrongSeconds = 30
const inexactSeconds = 2

export const checkClock: Check = {
  name: 'clock',
  async run({ store, signal }) {
    const { nowMs } = await databaseFacts(store)
    const findings: Finding[] = []
    if (store.dialect === 'postgres') findings.push(judged('the database', (Date.now() - nowMs) / 1000))
    const date = await upstreamDate({ store, signal })
    // The difference is not exact, because the header contains whole seconds and the response takes some time.
    if (date !== undefined) findings.push(judged('the upstreams', (Date.now() - date) / 1000))
    else findings.push(ok('No upstream could be asked for the time.'))
    return findings
  },
}

function judged(whose: string, seconds: number): Finding {
  const off = Math.abs(Math.round(seconds))
  const text = `The clock differs from that of ${whose} by ${off} s.`
  if (off > wrongSeconds) return fail(text, 'Set the clock of this machine by NTP.')
  return off > inexactSeconds ? warn(text, 'Set the clocks by NTP.') : ok(text)
}

/**
 * The current time according to the first upstream that responds, in epoch milliseconds. The requests contain no key.
 */
async function upstreamDate({ store, signal }: Pick<Patient, 'store' | 'signal'>): Promise<number | undefined> {
  const rows = await allChannels(store.read)
  const urls = rows
    .filter(({ status, base_url, proxy }) => status === channelStatus.enabled && proxy === '' && URL.canParse(base_url))
    .map(({ base_url }) => new URL(base_url))
    .filter((url) => /^https?:$/.test(url.protocol) && !isMetadataHost(url.hostname))
  const origins = [...new Set(urls.map(({ origin }) => origin))].slice(0, askedUpstreams)
  const ask = async (origin: string) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(requestMs)])
    const response = await fetch(origin, { method: 'HEAD', redirect: 'manual', signal: limit })
    const time = Date.parse(response.headers.get('date') ?? '')
    if (Number.isNaN(time)) throw new Error('no date')
    return time
  }
  return Promise.any(origins.map(ask)).catch(() => undefined)
}

export const checkProxy: Check = {
  name: 'proxy',
  async run(patient) {
    const { settings, config } = patient
    if (settings.ServerAddress === '')
      return [
        warn(
          'ServerAddress is not set, so links in emails lead to localhost and the proxy is not checked.',
          'Set it to the public address.',
        ),
      ]
    const url = `${settings.ServerAddress}${doctorApi.stream.path}`
    let events: DoctorEvent[]
    try {
      events = await streamed(url, patient)
    } catch (error) {
      const why = messageOf(error)
      return [
        fail(
          `${settings.ServerAddress} does not lead to this installation: ${why}.`,
          `Start the server, and check ServerAddress${config.basePath === '' ? '' : ', BASE_PATH'} and the proxy in front of it.`,
        ),
      ]
    }
    const [first] = events
    if (!first) return [fail('The stream had no events.', 'Check the proxy in front of the server.')]
    return [streamFinding(events), ...addressFindings(first, settings.ServerAddress)]
  },
}

/** An address for documentation (RFC 5737), which no caller has. */
const forged = '203.0.113.77'

/**
 * Requests the test stream of the server through its public address, and returns the events. Each event is confirmed
 * through the database when it arrives.
 */
async function streamed(url: string, { store, secrets, signal }: Patient): Promise<DoctorEvent[]> {
  const subject = randomBase62(20)
  const secret = randomBase62(40)
  const now = epochSeconds(systemClock)
  const save = (purpose: string, name: string, text: string) =>
    store.write((trx) =>
      saveCode(trx, {
        purpose,
        subject: name,
        code_hash: secrets.fingerprint(text, purpose),
        created_time: now,
        expires_time: now + 60,
      }),
    )
  await save(doctorPurposes.ask, subject, secret)
  const headers = { [doctorHeader]: `${subject}.${secret}`, 'x-forwarded-for': forged, accept: 'text/event-stream' }
  const response = await fetch(url, { headers, signal, redirect: 'manual' })
  if (!response.ok || !response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    throw new Error(`it answers with status ${response.status} and no stream`)
  }
  const events: DoctorEvent[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > 100_000) throw new Error('it sends too much')
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const event = parseInput(doctorEvent, tryParse(part.replace(/^data: /, '')))
      events.push(event)
      const name = `${subject}.${event.number}`
      await save(doctorPurposes.confirm, name, name)
    }
  }
  return events
}

function streamFinding(events: readonly DoctorEvent[]): Finding {
  if (events.length !== doctorEvents)
    return fail('The stream was interrupted.', 'Check the time limits of the proxy in front of the server.')
  return events.every(({ confirmed }) => confirmed)
    ? ok('Events of a stream arrive one at a time.')
    : fail(
        'The events of a stream arrive all at once: something between collects them.',
        'Turn off buffering in the proxy (nginx: proxy_buffering off).',
      )
}

function addressFindings({ address, socket, forwarded, secure }: DoctorEvent, serverAddress: string): Finding[] {
  const findings: Finding[] = []
  const isProxied = forwarded !== forged
  if (address === forged)
    findings.push(
      fail(
        'Callers can forge their address: the X-Forwarded-For header that they send is believed.',
        'Let the proxy append the address of its peer, or remove that peer from TRUSTED_PROXIES.',
      ),
    )
  else if (isProxied && address === socket)
    findings.push(
      warn(
        `Requests come through a proxy, and every caller has its address ${socket}.`,
        `If the proxy is yours, set TRUSTED_PROXIES=${socket}.`,
      ),
    )
  else
    findings.push(ok(`The server sees this machine as ${address}${isProxied ? `, through a proxy at ${socket}` : ''}.`))
  if (/^https:/i.test(serverAddress) && !secure)
    findings.push(
      warn(
        'The server does not see that callers use https, so cookies are sent without Secure.',
        'Let the proxy send X-Forwarded-Proto, and list it in TRUSTED_PROXIES.',
      ),
    )
  return findings
}
