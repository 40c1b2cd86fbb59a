// Transcripts in SubRip and WebVTT format: the charge depends on the length of the audio, which is taken from the last
// time stamp.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { sendBody } from '../helpers/fake-upstream/reply.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({ models: 'whisper-1' })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Sends 5 bytes of audio for transcription; the upstream responds with `answer`. */
async function transcribe(answer: string, format: string, type: string) {
  const caller = await rig.caller()
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('response_format', format)
  form.set('file', new Blob(['sound']), 'a.mp3')
  rig.upstream.next(
    behaviour('transcript', (exchange) => sendBody(exchange, 200, Buffer.from(answer), [['content-type', type]])),
  )
  const seen = await see(
    fetch(`${rig.gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${caller.token}` },
    }),
  )
  expect(seen.status).toBe(200)
  expect(seen.text).toBe(answer)
  return caller
}

// The price of $0.006 per minute equals 50 units per second.
test.each([
  [
    'srt',
    'application/x-subrip',
    '1\n00:00:00,000 --> 00:00:02,500\nGood morning.\n\n2\n00:00:02,500 --> 00:01:04,020\nWell?\n\n',
    3201,
  ],
  ['srt with CRLF', 'text/plain; charset=utf-8', '1\r\n00:00:00,000 --> 01:00:02,000\r\nGood morning.\r\n', 180_100],
  [
    'vtt',
    'text/vtt',
    'WEBVTT\n\n00:00.000 --> 00:02.500\nGood morning.\n\n00:02.500 --> 00:10.040 align:start\nWell?\n',
    502,
  ],
  ['vtt with hours', 'text/vtt', 'WEBVTT - a title\n\n01:00:00.000 --> 01:00:02.000\nGood morning.\n', 180_100],
])('%s: the last time stamp determines the length of the audio', async (name, type, answer, units) => {
  const caller = await transcribe(answer, name.slice(0, 3), type)
  const [row] = await charged(rig, caller, units)
  expect(row).toMatchObject({ outcome: 'complete', estimated: 1 })
  expect(row?.content).not.toContain('refused')
})

test.each([
  ['srt', 'text/plain', '1\n?? --> ??\nGood morning.\n\n2\n?? --> ??\nWell?\n'],
  ['vtt', 'text/vtt', 'WEBVTT\n\n?? --> ??\nGood morning.\n\n?? --> ??\nWell?\n'],
])('%s with unreadable time stamps costs as much as its words alone', async (format, type, answer) => {
  const plain = await chargedUnits(rig, await transcribe('Good morning.\n\nWell?', 'text', 'text/plain'))
  const stamped = await chargedUnits(rig, await transcribe(answer, format, type))
  expect(stamped.rows[0]?.completion_tokens).toBe(plain.rows[0]?.completion_tokens)
  expect(stamped.units).toBe(plain.units)
})
