import * as fake from '../helpers/fake-upstream.ts'
import { eventsOf, textOf, untilHeard } from '../relay/setup.ts'
import { type Heard, longModel, model, type Stage } from './stage.ts'

/**
 * The sixteen faults of Failover Bench, written from its public description. A fault passes only if the caller gets the
 * same result as without the fault. For some faults, the correct result is a clear error for which nothing is charged.
 */
export interface Fault {
  id: string
  name: string
  /** What the fault needs in addition to the defaults. Undefined if it needs nothing. */
  needs?: 'StreamRescue' | 'a virtual model'
  /** The result with which the fault passes, as the table shows it. */
  passes: string
  /** Plays the fault. Returns the result for the table, and throws if the fault does not pass. */
  play?(stage: Stage): Promise<string>
}

const text = 'The bridge was opened in 1932.'
const stream = { stream: true }
const words = text.match(/\s*\S+/g) ?? []
const well = () => fake.ok({ text })
/** The channel type of a service that can continue a given text. */
const mistral = 28

/**
 * A service that continues the part of the answer that the request contains. With `refuses`, it rejects requests whose
 * last message is the beginning of an answer.
 */
function continues(prefill?: 'refuses') {
  return fake.behaviour('continues', (exchange) => {
    const { messages } = exchange.request.json as { messages: { role: string; content: string }[] }
    const isBegun = messages.at(-1)?.role === 'assistant'
    const reply =
      isBegun && prefill ? fake.status(400, { message: 'the last message must be from the user' }) : undefined
    const given = messages.findLast(({ role }) => role === 'assistant')?.content ?? ''
    must(text.startsWith(given) && given !== '', `the text given is ${given}`)
    return (reply ?? fake.ok({ text: text.slice(given.length) })).run(exchange)
  })
}

/** Sends the first words in one piece and then nothing. */
function stallsAfterOnePiece() {
  return fake.behaviour('stalls', async (exchange) => {
    exchange.head(200, fake.streamHeaders())
    const delta = { role: 'assistant', content: words.slice(0, 4).join('') }
    await exchange.write(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`)
    exchange.hang()
  })
}

/** Checks that the log row has the outcome "rescued". */
function isRescued({ rows }: Heard): void {
  must(rows[0]?.outcome === 'rescued', `the outcome is ${rows[0]?.outcome}`)
}

function must(condition: boolean, what: string, heard?: Heard): void {
  if (condition) return
  const seen = heard && ` (status ${heard.status}, called ${heard.called.join(', ')}, text ${heard.text.slice(0, 300)})`
  throw new Error(`${what}${seen ?? ''}`)
}

/** Checks that the whole answer arrived, was charged once and is in the log once. */
function isWhole(heard: Heard, isStreamed = false): void {
  must(heard.status === 200 && !heard.broken && heard.error === undefined, 'there is no answer', heard)
  if (isStreamed) {
    must(textOf(withoutComments(heard.text)) === text, 'the text differs', heard)
    must(eventsOf(heard.text).at(-1) === '[DONE]', 'the stream has no end', heard)
  } else must(heard.text.includes(text), 'the text differs', heard)
  must(heard.cost > 0 && heard.rows.length === 1, 'the answer is not charged once', heard)
  must(heard.rows[0]?.quota === heard.cost, 'the log row and the charge differ', heard)
}

const withoutComments = (body: string) => body.replace(/^:.*\n\n/gm, '')

function servedBy(heard: Heard, ...called: string[]): string {
  must(heard.called.join() === called.join(), `the calls should have been ${called.join(', ')}`, heard)
  return `answered by the ${called.at(-1)} after ${(heard.elapsedMs / 1000).toFixed(1)} s`
}

const isResting =
  ({ gateway }: Stage) =>
  () =>
    gateway.context.relay.relay.rests.count() > 0
const isAsked =
  ({ upstream }: Stage) =>
  () =>
    upstream.requests.length > 0

export const faults: readonly Fault[] = [
  {
    id: 'S01',
    name: '429 with Retry-After',
    passes: 'answered by the same channel, not before the time stated',
    async play(stage) {
      stage.upstream.forKey('primary', fake.status(429, { retryAfter: 2 }), well())
      const asking = stage.ask()
      await stage.whileWaiting(2_300, isResting(stage))
      const heard = await asking
      isWhole(heard)
      must(heard.elapsedMs >= 2_000, 'the channel was called again too early', heard)
      return servedBy(heard, 'primary', 'primary')
    },
  },
  {
    id: 'S02',
    name: '429 without Retry-After',
    passes: 'answered by the other channel',
    async play(stage) {
      stage.upstream.forKey('primary', fake.status(429))
      stage.upstream.forKey('fallback', well())
      const heard = await stage.ask()
      isWhole(heard)
      return servedBy(heard, 'primary', 'fallback')
    },
  },
  {
    id: 'S03',
    name: '500 once',
    passes: 'answered by the same channel',
    async play(stage) {
      stage.upstream.forKey('primary', fake.status(500), well())
      const heard = await stage.ask()
      isWhole(heard)
      return servedBy(heard, 'primary', 'primary')
    },
  },
  {
    id: 'S04',
    name: '503 always',
    passes: 'answered by the other channel',
    async play(stage) {
      stage.upstream.forKey('primary', fake.status(503))
      stage.upstream.forKey('fallback', well())
      const heard = await stage.ask()
      isWhole(heard)
      return servedBy(heard, 'primary', 'primary', 'fallback')
    },
  },
  {
    id: 'S05',
    name: 'connection reset',
    passes: 'answered by the same channel',
    async play(stage) {
      stage.upstream.forKey('primary', fake.resetsBeforeHeaders(), well())
      const heard = await stage.ask()
      isWhole(heard)
      return servedBy(heard, 'primary', 'primary')
    },
  },
  {
    id: 'S06',
    name: 'no response',
    passes: 'answered by the other channel within 35 s',
    async play(stage) {
      stage.upstream.forKey('primary', fake.neverAnswers())
      stage.upstream.forKey('fallback', well())
      const asking = stage.ask(stream)
      await stage.whileWaiting(30_300, isAsked(stage))
      const heard = await asking
      isWhole(heard, true)
      must(heard.elapsedMs < 35_000, 'the answer came too late', heard)
      return servedBy(heard, 'primary', 'fallback')
    },
  },
  {
    id: 'S07',
    name: 'first token late, after keep-alives and an empty event',
    passes: 'answered by the other channel within 35 s',
    async play(stage) {
      stage.upstream.forKey(
        'primary',
        fake.behaviour('late first token', async (exchange) => {
          exchange.head(200, fake.streamHeaders())
          await exchange.write('data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n')
          while (await exchange.write(': keep-alive\n\n')) await new Promise((resolve) => setTimeout(resolve, 100))
        }),
      )
      stage.upstream.forKey('fallback', well())
      const asking = stage.ask(stream)
      await stage.whileWaiting(30_300, isAsked(stage))
      const heard = await asking
      isWhole(heard, true)
      must(heard.elapsedMs < 35_000, 'the answer came too late', heard)
      return servedBy(heard, 'primary', 'fallback')
    },
  },
  {
    id: 'S08',
    name: 'stream cut',
    needs: 'StreamRescue',
    passes: 'one answer, continued by the other channel',
    async play(stage) {
      stage.upstream.forKey('primary', fake.cutsStream('reset', { chunks: words, after: 4, when: untilHeard('was') }))
      stage.upstream.forKey('fallback', continues())
      const heard = await stage.ask(stream)
      isWhole(heard, true)
      isRescued(heard)
      return servedBy(heard, 'primary', 'fallback')
    },
  },
  {
    id: 'S09',
    name: 'stream stalled',
    needs: 'StreamRescue',
    passes: 'one answer, continued by the other channel',
    async play(stage) {
      stage.upstream.forKey('primary', stallsAfterOnePiece())
      stage.upstream.forKey('fallback', continues())
      const asking = stage.ask(stream)
      await stage.whileWaiting(60_300, () => stage.hasBegun())
      const heard = await asking
      isWhole(heard, true)
      isRescued(heard)
      return servedBy(heard, 'primary', 'fallback')
    },
  },
  {
    id: 'S10',
    name: 'event that is not JSON',
    passes: 'the event is skipped, and the rest of the answer arrives with its end',
    async play(stage) {
      stage.upstream.forKey('primary', fake.badJsonChunk({ chunks: text.match(/\s*\S+/g) ?? [] }))
      const heard = await stage.ask(stream)
      isWhole(heard, true)
      return servedBy(heard, 'primary')
    },
  },
  {
    id: 'S11',
    name: 'no [DONE]',
    passes: 'the answer arrives with its end',
    async play(stage) {
      stage.upstream.forKey('primary', fake.noDone({ text }))
      const heard = await stage.ask(stream)
      isWhole(heard, true)
      return servedBy(heard, 'primary')
    },
  },
  {
    id: 'S12',
    name: 'context too long',
    needs: 'a virtual model',
    passes: 'answered by a model with more context, and only its answer is charged',
    async play(stage) {
      await stage.gateway.api('POST', '/api/virtual-model/', {
        name: 'assistant',
        steps: [{ model }, { model: longModel }],
      })
      const tooLong = fake.status(400, {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 190000 tokens.",
        code: 'context_length_exceeded',
      })
      const byModel = fake.behaviour('more context in one model', (exchange) => {
        const asked = exchange.request.json as { model?: string }
        return (asked.model === longModel ? well() : tooLong).run(exchange)
      })
      for (const key of ['primary', 'fallback']) stage.upstream.forKey(key, byModel)
      const heard = await stage.ask({ model: 'assistant' })
      isWhole(heard)
      const [row] = heard.rows
      must(row?.model_name === longModel && row.asked_model === 'assistant', 'the log names another model', heard)
      must(heard.headers.get('x-tollgate-model') === longModel, 'the header names another model', heard)
      return `${servedBy(heard, 'primary', 'fallback')}, with ${longModel}`
    },
  },
  {
    id: 'S13',
    name: 'content filter',
    passes: 'the refusal is passed on, other channels are not called, nothing is charged',
    async play(stage) {
      const message = 'The response was filtered due to the prompt triggering the content management policy.'
      stage.upstream.forKey('primary', fake.status(400, { message, code: 'content_filter' }))
      stage.upstream.forKey('fallback', well())
      const heard = await stage.ask()
      must(heard.status === 400 && heard.error?.code === 'content_filter', 'the refusal is not passed on', heard)
      must(heard.cost === 0, 'the refusal is charged', heard)
      must(heard.called.join() === 'primary', 'the filter was evaded', heard)
      return 'refused by the primary, at no cost'
    },
  },
  {
    id: 'S14',
    name: 'stream cut, and the other channel refuses to continue a given text',
    needs: 'StreamRescue',
    passes: 'one answer, continued by the other channel in another way',
    async play(stage) {
      await stage.changeChannels({ fallback: { type: mistral } })
      stage.upstream.forKey('primary', fake.cutsStream('reset', { chunks: words, after: 4, when: untilHeard('was') }))
      stage.upstream.forKey('fallback', continues('refuses'))
      const heard = await stage.ask(stream)
      isWhole(heard, true)
      isRescued(heard)
      return servedBy(heard, 'primary', 'fallback', 'fallback')
    },
  },
  {
    id: 'S15',
    name: 'channel that goes away and comes back',
    passes: 'every call is answered, and the primary has its calls back within 30 s',
    play: playFlap,
  },
  {
    id: 'S16',
    name: 'books after failed attempts',
    passes: 'one charge for what the answer used, one log row with all attempts, no hold left',
    async play(stage) {
      stage.upstream.forKey('primary', fake.status(503), fake.resetsBeforeHeaders())
      stage.upstream.forKey('fallback', fake.ok({ text, usage: { prompt_tokens: 100, completion_tokens: 10 } }))
      const heard = await stage.ask()
      isWhole(heard)
      const [row] = heard.rows
      must(row?.prompt_tokens === 100 && row.completion_tokens === 10, 'the usage differs', heard)
      must((JSON.parse(row?.attempts ?? '[]') as object[]).length === 3, 'an attempt is missing', heard)
      const { store } = stage.gateway.context
      const holds = await store.read.selectFrom('holds').selectAll().execute()
      must(holds.length === 0, 'a hold is left', heard)
      return servedBy(heard, 'primary', 'primary', 'fallback')
    },
  },
]

/**
 * The primary channel fails for a minute. A call is made every two seconds, until the primary serves ten calls in a
 * row.
 */
async function playFlap(stage: Stage): Promise<string> {
  stage.upstream.forKey('fallback', well())
  stage.upstream.forKey('primary', well())
  isWhole(await stage.ask())
  stage.upstream.forKey('primary', fake.status(503))
  for (let second = 0; second < 60; second += 2) {
    isWhole(await stage.ask())
    await stage.pass(2_000)
  }
  stage.upstream.forKey('primary', well())
  let inRow = 0
  let backSeconds = 0
  for (let second = 0; inRow < 10; second += 2) {
    must(second <= 50, 'the primary did not get its calls back')
    const heard = await stage.ask()
    isWhole(heard)
    inRow = heard.called.join() === 'primary' ? inRow + 1 : 0
    if (inRow === 1) backSeconds = second
    await stage.pass(2_000)
  }
  must(backSeconds <= 30, `the primary got its calls back only after ${backSeconds} s`)
  return `every call answered; the primary had all its calls back ${backSeconds} s after it was well`
}
