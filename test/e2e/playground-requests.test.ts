// The playground: what is sent besides text (files, tools, formats, reasoning effort), several models side by side,
// edited messages, and conversations kept in the browser.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { type FakeUpstream, ok, stallsStream, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { type Account, openConsole } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { hold } from './support/held.ts'
import { card, chooseModel, modelBox, send } from './support/playground.ts'

const site = openConsole()
let upstream: FakeUpstream
let user: Account
let token: { id: number; key: string }

beforeAll(async () => {
  upstream = await startFakeUpstream()
  const models = 'gpt-3.5-turbo,gpt-4o,gpt-4o-mini,o3-mini'
  const channel = { type: 8, name: 'c', key: 'k', models, group: 'default', base_url: upstream.url }
  await site.api('POST', '/api/channel/', channel)
  user = await site.addUser('player', { quota: 50_000_000 })
  token = await site.apiAs(user, 'POST', '/api/token/', { name: 'mine', remain_quota: 50_000_000, expired_time: -1 })
})
afterAll(() => upstream[Symbol.asyncDispose]())
beforeEach(() => {
  upstream.clear()
  upstream.always(ok({ text: 'Four words of answer.' }))
})

const path = (model = 'gpt-4o-mini') => `/playground?token=${token.id}&model=${model}`
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

// The smallest PNG: one transparent pixel.
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const picture = { name: 'dot.png', mimeType: 'image/png', buffer: png }

/** Pastes a file into the message box, or drops it there. */
async function give(page: Page, how: 'paste' | 'drop', file: { name: string; type: string; base64: string }) {
  await message(page).evaluate(
    (box, { how, file }) => {
      const bytes = Uint8Array.from(atob(file.base64), (letter) => letter.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], file.name, { type: file.type }))
      const event =
        how === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
      box.dispatchEvent(event)
    },
    { how, file },
  )
}

describe('files', () => {
  test('images, PDFs and text are attached by choosing, pasting and dropping, and sent as parts of the message', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path('gpt-4o'))
    await page.locator('input[type="file"]').setInputFiles(picture)
    await give(page, 'paste', { name: 'notes.md', type: '', base64: Buffer.from('# Größe').toString('base64') })
    await give(page, 'drop', { name: 'paper.pdf', type: 'application/pdf', base64: btoa('%PDF-1.4') })
    const files = page.getByRole('list', { name: 'Attached files' })
    await eventually(() => files.getByRole('listitem').count()).toBe(3)
    await button(page, 'Remove paper.pdf').click()
    await eventually(() => files.getByRole('listitem').count()).toBe(2)
    await give(page, 'drop', { name: 'paper.pdf', type: 'application/pdf', base64: btoa('%PDF-1.4') })
    await eventually(() => files.getByRole('listitem').count()).toBe(3)
    await send(page, 'What is this?')
    await card(page, 'gpt-4o').getByText('Four words of answer.').waitFor()
    expect(upstream.last.fields['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
          { type: 'text', text: 'notes.md:\n\n# Größe' },
          {
            type: 'file',
            file: { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.4')}` },
          },
          { type: 'text', text: 'What is this?' },
        ],
      },
    ])
    // The message shows the files, the box is empty again, and the next request repeats the files.
    await eventually(() => files.count()).toBe(1)
    await send(page, 'And now?')
    await eventually(() => card(page, 'gpt-4o').count()).toBe(2)
    await card(page, 'gpt-4o').nth(1).getByText('Four words of answer.').waitFor()
    const [first] = upstream.last.fields['messages'] as { content: unknown[] }[]
    expect(first?.content).toHaveLength(4)
  })

  test('that are too large, too many, empty or of another type are rejected with the limit', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await page.getByText('images up to 5 MB, PDFs up to 10 MB, text up to 512 KB').waitFor()
    const input = page.locator('input[type="file"]')
    const file = (name: string, mimeType: string, bytes: number | Buffer) => ({
      name,
      mimeType,
      buffer: typeof bytes === 'number' ? Buffer.alloc(bytes, 'a') : bytes,
    })
    await input.setInputFiles([
      file('large.png', 'image/png', 5 * 1024 * 1024 + 1),
      file('large.pdf', 'application/pdf', 10 * 1024 * 1024 + 1),
      file('large.txt', 'text/plain', 512 * 1024 + 1),
      file('none.txt', 'text/plain', 0),
      file('sound.mp3', 'audio/mpeg', 10),
      file('program.bin', '', Buffer.from([0, 255, 1, 2])),
    ])
    for (const words of [
      'large.png was not attached. Images can have up to 5 MB.',
      'large.pdf was not attached. PDFs can have up to 10 MB.',
      'large.txt was not attached. Text files can have up to 512 KB.',
      'none.txt was not attached, because it is empty.',
      'sound.mp3 was not attached. Use PNG, JPEG, GIF, WebP, PDF or UTF-8 text.',
      'program.bin was not attached. Use PNG, JPEG, GIF, WebP, PDF or UTF-8 text.',
    ])
      await page.getByRole('alert').getByText(words).waitFor()
    expect(await page.getByRole('list', { name: 'Attached files' }).count()).toBe(0)
    await input.setInputFiles(Array.from({ length: 9 }, (_, index) => file(`${index}.txt`, 'text/plain', 5)))
    await page.getByText('8.txt was not attached. A message can have up to 8 files.').waitFor()
    await eventually(() => page.getByRole('list', { name: 'Attached files' }).getByRole('listitem').count()).toBe(8)
  })

  test('lead to a warning if the model does not accept their type', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path('gpt-3.5-turbo'))
    await page.locator('input[type="file"]').setInputFiles(picture)
    await page.getByText('gpt-3.5-turbo does not accept images.').waitFor()
    await chooseModel(page, 'gpt-4o')
    await eventually(() => page.getByText('does not accept images').count()).toBe(0)
  })
})

describe('tools', () => {
  test('are checked while they are typed; a call is shown, its result is typed in, and the model continues', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await button(page, 'Tools (0)').click()
    const dialog = page.getByRole('dialog', { name: 'Tools' })
    await button(page, 'Add example').click()
    const schema = dialog.getByLabel('Parameters (JSON schema)')
    const good = await schema.inputValue()
    const save = dialog.getByRole('button', { name: 'Save' })
    for (const [source, problem] of [
      ['{', 'This is not valid JSON'],
      ['[]', 'Enter a schema in braces.'],
      ['{"type":"string"}', 'The schema must have the type "object".'],
      ['{"type":"object","properties":{"a":{"type":"text"}}}', 'In properties.a: "text" is not a JSON type.'],
      ['{"type":"object","properties":{"a":{"type":"array"}}}', 'In properties.a: An array needs "items".'],
      ['{"type":"object","properties":{},"required":["city"]}', '"city" is required but not in "properties".'],
    ] as const) {
      await schema.fill(source)
      await dialog.getByText(problem).waitFor()
      expect(await save.isDisabled()).toBe(true)
    }
    await schema.fill(good)
    await dialog.getByLabel('Name').fill('get weather')
    await dialog.getByText('Use 1 to 64 letters, digits, underscores and hyphens.').waitFor()
    await dialog.getByLabel('Name').fill('get_weather')
    await save.click()
    await button(page, 'Tools (1)').waitFor()

    const toolCalls = ['Oslo', 'Rome'].map((city, index) => ({
      id: `call_${city}`,
      name: 'get_weather',
      arguments: JSON.stringify({ city, day: index }),
    }))
    upstream.always(ok({ text: 'Let me look.', toolCalls }))
    await send(page, 'Weather in Oslo and Rome?')
    const calls = card(page).locator('[data-call="get_weather"]')
    await eventually(() => calls.count()).toBe(2)
    await calls.first().getByText('"city": "Oslo"').waitFor()
    expect(upstream.last.fields['tools']).toEqual([
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Get the current weather of a city',
          parameters: JSON.parse(good),
        },
      },
    ])
    await eventually(() => button(page, 'Send results').isDisabled()).toBe(true)
    upstream.always(ok({ text: 'Cold and warm.' }))
    await calls.nth(0).getByLabel('Result of get_weather').fill('{"degrees": -3}')
    await calls.nth(1).getByLabel('Result of get_weather').fill('{"degrees": 21}')
    await page.keyboard.press('Control+Enter')
    await card(page).getByText('Cold and warm.').waitFor()
    await card(page).getByText('{"degrees": 21}').waitFor()
    expect(upstream.last.fields['messages']).toEqual([
      { role: 'user', content: 'Weather in Oslo and Rome?' },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: args },
        })),
      },
      { role: 'tool', tool_call_id: 'call_Oslo', content: '{"degrees": -3}' },
      { role: 'tool', tool_call_id: 'call_Rome', content: '{"degrees": 21}' },
    ])
    // Each of the two requests has figures of its own, and the request with the next question contains the whole
    // conversation.
    await eventually(() =>
      card(page)
        .getByText(/cost \$/)
        .count(),
    ).toBe(2)
    await send(page, 'Thanks')
    await card(page).nth(1).getByText('Cold and warm.').waitFor()
    const roles = (upstream.last.fields['messages'] as { role: string }[]).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant', 'user'])
  })

  test('a call without a result is not part of the next request', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    upstream.always(ok({ text: 'Wait.', toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] }))
    await send(page, 'Look')
    await card(page).getByLabel('Result of look').waitFor()
    upstream.always(ok({ text: 'Fine.' }))
    await send(page, 'Never mind')
    await card(page).nth(1).getByText('Fine.').waitFor()
    expect(upstream.last.fields['messages']).toEqual([
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: 'Wait.' },
      { role: 'user', content: 'Never mind' },
    ])
  })
})

test('JSON and a JSON schema can be required; the response is checked', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open(path())
  const format = page.getByLabel('Response format')
  await format.selectOption('JSON')
  upstream.always(ok({ text: '{"a": [1, 2]}' }))
  await send(page, 'Give me JSON')
  await card(page).getByText('Valid JSON', { exact: true }).waitFor()
  expect(upstream.last.fields['response_format']).toEqual({ type: 'json_object' })
  await format.selectOption('JSON schema')
  const dialog = page.getByRole('dialog', { name: 'Schema of the response' })
  const box = dialog.getByLabel('JSON schema')
  await box.fill('{"type":"object"')
  await dialog.getByText('This is not valid JSON').waitFor()
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    additionalProperties: false,
  }
  await box.fill(JSON.stringify(schema))
  await dialog.getByLabel('Name').fill('numbers')
  await dialog.getByRole('button', { name: 'Save' }).click()
  upstream.always(ok({ text: 'Sorry, no.' }))
  await send(page, 'Again')
  await card(page).nth(1).getByText('Not valid JSON', { exact: true }).waitFor()
  expect(upstream.last.fields['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'numbers', schema, strict: true },
  })
})

test('reasoning effort is offered only for models known to reason, and the reasoning is folded', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open(path('o3-mini'))
  await page.getByLabel('Reasoning effort').selectOption('High')
  upstream.always(ok({ text: 'Therefore.', reasoning: 'First, I think.' }))
  await send(page, 'Think')
  await card(page, 'o3-mini').getByText('Therefore.').waitFor()
  expect(upstream.last.fields['reasoning_effort']).toBe('high')
  const thought = card(page, 'o3-mini').getByText('First, I think.')
  expect(await thought.isVisible()).toBe(false)
  await card(page, 'o3-mini').getByText('Reasoning', { exact: true }).click()
  await thought.waitFor()
  await chooseModel(page, 'gpt-4o-mini')
  await eventually(() => page.getByLabel('Reasoning effort').count()).toBe(0)
  await send(page, 'Answer')
  await card(page).getByText('Therefore.').waitFor()
  expect(upstream.last.fields).not.toHaveProperty('reasoning_effort')
})

describe('several models', () => {
  test('can be added once the models have loaded', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    const release = await hold(page, '**/v1/models')
    await visit.open(path())
    await eventually(() => button(page, 'Add model').isDisabled()).toBe(true)
    release()
    await button(page, 'Add model').click()
    await page.waitForURL('**compare=gpt-3.5-turbo')
  })

  test('up to four answer side by side, each with its own parameters, cost, duration and speed', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(`${path()}&compare=gpt-4o&compare=o3-mini`)
    await button(page, 'Add model').click()
    await eventually(() => button(page, 'Add model').count()).toBe(0)
    await chooseModel(page, 'gpt-4o', 'Model 4')
    await eventually(() => modelBox(page, 'Model 4').textContent()).toBe('gpt-4o')
    await page.getByLabel('Temperature').fill('0.1')
    await button(page, 'Use for all models').click()
    await page.getByText('4. gpt-4o', { exact: true }).click()
    await page.getByLabel('Temperature').fill('0.9')
    await page.getByText('2. gpt-4o', { exact: true }).click()
    await eventually(() => page.getByLabel('Temperature').inputValue()).toBe('0.1')
    await send(page, 'All of you')
    await eventually(() => page.locator('article[data-state="done"]').count()).toBe(4)
    await eventually(() =>
      page.getByText(/first token .* ms · .* s in total · .* tokens\/s · 10 \+ 4 tokens · cost \$/).count(),
    ).toBe(4)
    const sent = upstream.requests.slice(-4).map(({ model, fields }) => `${model} ${fields['temperature']}`)
    expect(sent.sort()).toEqual(['gpt-4o 0.1', 'gpt-4o 0.9', 'gpt-4o-mini 0.1', 'o3-mini 0.1'])
    await page.reload()
    await eventually(() => modelBox(page, 'Model 4').textContent()).toBe('gpt-4o')
    await button(page, 'Remove 1. gpt-4o-mini').click()
    await eventually(() => modelBox(page).textContent()).toBe('gpt-4o')
    await eventually(() => modelBox(page, 'Model 4').count()).toBe(0)
  })

  test('if one model fails, the others are not affected, and each model continues its own conversation', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(`${path()}&compare=gpt-4o`)
    upstream.always({
      ...ok(),
      run: (exchange) =>
        (exchange.request.model === 'gpt-4o' ? status(400, { message: 'not today' }) : ok({ text: 'Mini.' })).run(
          exchange,
        ),
    })
    await send(page, 'One')
    await card(page, 'gpt-4o').getByText('not today').waitFor()
    await card(page).getByText('Mini.').waitFor()
    upstream.always(ok({ text: 'Now.' }))
    await button(page, 'Retry gpt-4o').click()
    await card(page, 'gpt-4o').getByText('Now.').waitFor()
    await send(page, 'Two')
    await eventually(() => page.locator('article[data-state="done"]').count()).toBe(4)
    const texts = upstream.requests
      .slice(-2)
      .map(({ model, fields }) => `${model}: ${(fields['messages'] as { content: string }[])[1]?.content}`)
    expect(texts.sort()).toEqual(['gpt-4o-mini: Mini.', 'gpt-4o: Now.'])
  })
})

test('a message can be edited and sent again, which removes what followed it', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open(path())
  await send(page, 'First')
  await card(page).getByText('Four words').waitFor()
  await send(page, 'Second')
  await card(page).nth(1).getByText('Four words').waitFor()
  await button(page, 'Edit message').first().click()
  const box = page.getByRole('textbox', { name: 'Edited message' })
  await eventually(() => box.inputValue()).toBe('First')
  await page.keyboard.press('Escape')
  await eventually(() => box.count()).toBe(0)
  await button(page, 'Edit message').first().click()
  await box.fill('Better')
  upstream.always(ok({ text: 'A better answer.' }))
  await page.keyboard.press('Control+Enter')
  await card(page).getByText('A better answer.').waitFor()
  await eventually(() => card(page).count()).toBe(1)
  expect(upstream.last.fields['messages']).toEqual([{ role: 'user', content: 'Better' }])
})

describe('kept conversations', () => {
  const open = (page: Page) => button(page, 'Conversations').click()
  const keep = async (page: Page) => {
    await open(page)
    await page.getByLabel('Keep conversations in this browser').check()
    await page.keyboard.press('Escape')
    await page.getByText('Conversations are kept in this browser.').waitFor()
  }
  const rows = (page: Page) => page.getByRole('dialog', { name: 'Conversations' }).getByRole('listitem')

  test('conversations are kept only if the user turns this on', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await send(page, 'A secret')
    await card(page).getByText('cost $').waitFor()
    expect(await page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name))).toEqual([])
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('secret')
  })

  test('are listed, continued with their models and settings, renamed, exported and deleted', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await keep(page)
    await page.getByLabel('System prompt').fill('Be kind.')
    await page.locator('input[type="file"]').setInputFiles(picture)
    await send(page, 'Look at this dot')
    await card(page).getByText('cost $').waitFor()
    await button(page, 'New conversation').click()
    await chooseModel(page, 'gpt-4o')
    await send(page, 'Another matter')
    await card(page, 'gpt-4o').getByText('cost $').waitFor()

    await visit.open('/playground')
    await open(page)
    await eventually(() => rows(page).count()).toBe(2)
    await rows(page).filter({ hasText: 'Look at this dot' }).getByText('gpt-4o-mini').click()
    await page.getByRole('list', { name: 'Attached files' }).getByText('dot.png').waitFor()
    await eventually(() => modelBox(page).textContent()).toBe('gpt-4o-mini')
    await eventually(() => page.getByLabel('System prompt').inputValue()).toBe('Be kind.')
    await send(page, 'And then?')
    await card(page).nth(1).getByText('Four words of answer.').waitFor()
    const roles = (upstream.last.fields['messages'] as { role: string }[]).map(({ role }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'user'])
    await card(page).nth(1).getByText('cost $').waitFor()

    await open(page)
    await eventually(() => rows(page).count()).toBe(2)
    await button(page, 'Rename “Look at this dot”').click()
    await page.getByLabel('Name of the conversation').fill('The dot')
    await page.keyboard.press('Enter')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Export “The dot” as JSON, with its files').click(),
    ])
    expect(file.suggestedFilename()).toBe('The-dot.json')
    const saved = readFileSync(await file.path(), 'utf8')
    expect(JSON.parse(saved)).toMatchObject({ title: 'The dot', models: ['gpt-4o-mini'], turns: [{}, {}] })
    expect(saved).not.toContain(token.key)
    const [text] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Export “The dot” as Markdown').click(),
    ])
    expect(readFileSync(await text.path(), 'utf8')).toStartWith(
      '# The dot\n\n> - dot.png\n\n> Look at this dot\n\n## gpt-4o-mini\n\nFour words of answer.\n',
    )
    await button(page, 'Delete “The dot”').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await eventually(() => rows(page).count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByText('Start a conversation').waitFor()
  })

  test('are not shown to another user who logs in with the same browser', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await keep(page)
    await send(page, 'Mine')
    await card(page).getByText('cost $').waitFor()
    await open(page)
    await eventually(() => rows(page).count()).toBe(1)
    await page.evaluate(() => {
      const stored = JSON.parse(localStorage.getItem('user') ?? '{}')
      localStorage.setItem('user', JSON.stringify({ ...stored, id: stored.id + 1000 }))
      localStorage.setItem(`ui.playground.keep.${stored.id + 1000}`, 'on')
    })
    await page.route('**/api/user/self', (route) => route.abort())
    await visit.open(path())
    await open(page)
    await page.getByText('No conversations yet').waitFor()
  })

  test('turning them off deletes them', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await keep(page)
    await send(page, 'Mine')
    await card(page).getByText('cost $').waitFor()
    await open(page)
    await eventually(() => rows(page).count()).toBe(1)
    await page.getByLabel('Keep conversations in this browser').click()
    await page.getByText('1 conversation is deleted from this browser. New ones are not kept.').waitFor()
    await page.getByRole('button', { name: 'Delete and turn off' }).click()
    await eventually(() => page.getByLabel('Keep conversations in this browser').isChecked()).toBe(false)
    // Starts a new conversation, because the conversation on the screen would be kept again.
    await page.keyboard.press('Escape')
    await button(page, 'New conversation').click()
    await open(page)
    await page.getByLabel('Keep conversations in this browser').check()
    await page.getByText('No conversations yet').waitFor()
  })
})

test('a stopped answer keeps its text and can be continued', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open(`${path()}&compare=gpt-4o`)
  upstream.always(stallsStream({ chunks: ['One ', 'two ', 'three'], after: 3 }))
  await send(page, 'Go on')
  await card(page).getByText('One two').waitFor()
  await card(page, 'gpt-4o').getByText('One two').waitFor()
  await button(page, 'Stop').click()
  await eventually(() => page.getByText('Stopped', { exact: true }).count()).toBe(2)
  while (upstream.openStreams > 0) await Bun.sleep(10)
  upstream.always(ok({ text: 'Four.' }))
  await send(page, 'Continue')
  await card(page).nth(1).getByText('Four.').waitFor()
  const contents = (upstream.last.fields['messages'] as { content: string }[]).map(({ content }) => content)
  expect(contents[0]).toBe('Go on')
  expect(contents[1]).toStartWith('One two')
  expect(contents[2]).toBe('Continue')
})
