// The playground: calls through the gateway with one of the user's tokens. Specification: 1 (tokens), 3 (token), 9
// (quota display).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { endsEarly, type FakeUpstream, ok, stallsStream, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { type Account, openConsole } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { hold } from './support/held.ts'
import { card, chooseModel, modelBox, modelList, send } from './support/playground.ts'

const site = openConsole()
let upstream: FakeUpstream
let user: Account
let token: { id: number; key: string }

beforeAll(async () => {
  upstream = await startFakeUpstream()
  const channel = { type: 8, name: 'c', key: 'k', models: 'gpt-4o,gpt-4o-mini', group: 'default' }
  await site.api('POST', '/api/channel/', { ...channel, base_url: upstream.url })
  user = await site.addUser('player')
  const fields = { name: 'mine', remain_quota: 500_000, expired_time: -1 }
  token = await site.apiAs(user, 'POST', '/api/token/', fields)
  await site.apiAs(user, 'POST', '/api/token/', { ...fields, name: 'small', models: 'gpt-4o' })
})
afterAll(() => upstream[Symbol.asyncDispose]())
beforeEach(() => {
  upstream.clear()
  upstream.always(ok({ text: 'Four words of answer.' }))
})

const path = () => `/playground?token=${token.id}&model=gpt-4o-mini`
describe('choosing a token and a model', () => {
  test('without a token, the page offers only a link to create one', async () => {
    const bare = await site.addUser('bare')
    await using visit = await site.visit({ as: bare })
    await visit.open('/playground')
    await visit.page.getByText('You need a token first').waitFor()
    const link = visit.page.locator('main').getByRole('link', { name: 'New token' })
    await eventually(() => link.getAttribute('href')).toBe('/token/add')
  })

  test('tokens are masked, the models belong to the chosen token, and the URL stores both choices', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open('/playground')
    const tokens = page.getByLabel('Token', { exact: true })
    const masked = `mine · sk-••••${token.key.slice(-4)}`
    await eventually(() => tokens.locator('option').allTextContents()).toContain(masked)
    expect(await page.content()).not.toContain(token.key)
    await eventually(() => modelBox(page).textContent()).toBe('gpt-4o')
    await modelBox(page).click()
    await eventually(() => modelList(page).getByRole('option').count()).toBe(1)
    await page.keyboard.press('Escape')
    await tokens.selectOption(masked)
    await chooseModel(page, 'gpt-4o-mini')
    await page.waitForURL(`**/playground?token=${token.id}&model=gpt-4o-mini`)
    await page.reload()
    await eventually(() => modelBox(page).textContent()).toBe('gpt-4o-mini')
    await eventually(() => tokens.inputValue()).toBe(String(token.id))
  })

  test('the list of models shows provider, context and price, and is searched by name or provider', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await modelBox(page).click()
    const rows = modelList(page).getByRole('option')
    await eventually(() => rows.count()).toBe(2)
    const row = rows.filter({ hasText: 'gpt-4o-mini' })
    await row.getByText('128K context · $0.15 in, $0.60 out per 1M tokens').waitFor()
    await eventually(() => row.locator('[data-mark]').getAttribute('data-mark')).toBe('O')
    const box = page.getByRole('combobox', { name: 'Search models' })
    await box.fill('openai')
    await eventually(() => rows.count()).toBe(2)
    await box.fill('mini')
    await eventually(() => rows.count()).toBe(1)
    await box.fill('nothing like it')
    await page.getByText('No results found.').waitFor()
    await box.fill('gpt-4o')
    await page.keyboard.press('Enter')
    await page.waitForURL('**model=gpt-4o')
    await eventually(() => modelBox(page).textContent()).toBe('gpt-4o')
    await eventually(() => modelList(page).count()).toBe(0)
  })
})

describe('the default model', () => {
  const models = 'a-model-of-ours,babbage-002,gpt-4o-mini'
  const personOfLab = async (username: string, role: number) => {
    const person = await site.addUser(username, { role })
    await site.api('PUT', '/api/user/', { id: person.id, group: 'lab' })
    await site.apiAs(person, 'POST', '/api/token/', { name: 'of lab', remain_quota: 500_000, expired_time: -1 })
    return person
  }

  beforeAll(() =>
    site.api('POST', '/api/channel/', { type: 8, name: 'lab', key: 'k', models, group: 'lab', base_url: upstream.url }),
  )

  test('is a model with a price, if prices are known', async () => {
    await using visit = await site.visit({ as: await personOfLab('lab-admin', 10) })
    await visit.open('/playground')
    await eventually(() => modelBox(visit.page).textContent()).toBe('gpt-4o-mini')
    await modelBox(visit.page).click()
    const rows = modelList(visit.page).locator('[data-model]')
    await eventually(() => rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-model')))).toEqual(
      models.split(','),
    )
  })

  test('is not preselected before it is known', async () => {
    await using visit = await site.visit({ as: await personOfLab('lab-waiter', 1) })
    const release = await hold(visit.page, '**/api/log/self*')
    await visit.open('/playground')
    await eventually(() => modelBox(visit.page).isEnabled()).toBe(true)
    expect(await modelBox(visit.page).textContent()).toBe('loading models ...')
    release()
    await eventually(() => modelBox(visit.page).textContent()).toBe('a-model-of-ours')
  })

  test('is the model that last answered in this browser; in a new browser, it is taken from the user’s own log', async () => {
    const person = await personOfLab('lab-user', 1)
    {
      await using visit = await site.visit({ as: person, expectedErrors: /status of 503/ })
      const { page } = visit
      await visit.open('/playground')
      await eventually(() => modelBox(page).textContent()).toBe('a-model-of-ours')
      await send(page, 'Hello')
      await card(page, 'a-model-of-ours').getByText('Request failed').waitFor()
      await chooseModel(page, 'gpt-4o-mini')
      await send(page, 'Hello')
      await card(page).getByText('Four words of answer.').waitFor()
      await card(page).getByText('cost $').waitFor()
      await visit.open('/playground')
      await eventually(() => modelBox(page).textContent()).toBe('gpt-4o-mini')
    }
    await using elsewhere = await site.visit({ as: person })
    await elsewhere.open('/playground')
    await eventually(() => modelBox(elsewhere.page).textContent()).toBe('gpt-4o-mini')
  })
})

test('on a narrow screen nothing covers the text of an empty conversation', async () => {
  await using visit = await site.visit({ as: user, width: 390, height: 700 })
  const { page } = visit
  await visit.open('/playground')
  const words = page.getByText('Conversations are not stored.')
  await words.scrollIntoViewIfNeeded()
  const [said, box] = [
    await words.boundingBox(),
    await page.getByRole('textbox', { name: 'Message', exact: true }).boundingBox(),
  ]
  if (!said || !box) throw new Error('it is not on the screen')
  expect(said.y + said.height).toBeLessThanOrEqual(box.y)
})

describe('an empty conversation', () => {
  test('suggests messages, which are put into the box and sent only by the user', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    const box = page.getByRole('textbox', { name: 'Message' })
    await page.getByRole('button', { name: 'Explain recursion to a beginner' }).click()
    await eventually(() => box.inputValue()).toBe('Explain recursion to a beginner')
    await eventually(() => box.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(upstream.requests).toEqual([])
    await page.keyboard.press('Control+Enter')
    await card(page).getByText('Four words of answer.').waitFor()
    await eventually(() => page.getByRole('button', { name: 'Explain recursion to a beginner' }).count()).toBe(0)
  })
})

describe('a call', () => {
  test('sends the form values, streams, and shows tokens and the exact cost', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    await page.getByLabel('System prompt').fill('Be short.')
    await page.getByLabel('Temperature').fill('0.4')
    await page.getByLabel('Max tokens').fill('50')
    await send(page, 'First question')
    await card(page).getByText('Four words of answer.').waitFor()
    await card(page).getByText('10 + 4 tokens').waitFor()
    const [row] = await site.apiAs<{ quota: number }[]>(user, 'GET', '/api/log/self?type=2')
    await card(page)
      .getByText(`cost $${((row?.quota ?? 0) / 500_000).toFixed(6)}`)
      .waitFor()
    expect(upstream.last.fields).toMatchObject({
      model: 'gpt-4o-mini',
      stream: true,
      temperature: 0.4,
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'First question' },
      ],
    })
    await send(page, 'Second question')
    await card(page).nth(1).getByText('Four words of answer.').waitFor()
    const roles = (upstream.last.fields['messages'] as { role: string }[]).map(({ role }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'user'])
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Start a conversation').waitFor()
    await page.reload()
    await page.getByText('Start a conversation').waitFor()
  })

  test('can be stopped, which ends the upstream call, and retried', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    upstream.always(stallsStream({ chunks: ['One ', 'two ', 'three'], after: 3 }))
    await send(page, 'Go on for ever')
    await card(page).getByText('One two').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await card(page).getByText('Stopped').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    while (upstream.openStreams > 0) await Bun.sleep(10)
    upstream.always(ok({ text: 'Now whole.' }))
    await page.getByRole('button', { name: 'Retry gpt-4o-mini' }).click()
    await card(page).getByText('Now whole.').waitFor()
    await eventually(() => card(page).count()).toBe(1)
  })

  test('that fails shows the status and the upstream’s message; a response that breaks off counts as a failure', async () => {
    await using visit = await site.visit({ as: user, expectedErrors: /ERR_FAILED/ })
    const { page } = visit
    await visit.open(path())
    upstream.always(status(400, { message: 'this question is too long' }))
    await send(page, 'Too long')
    await card(page).getByText('Request failed with status 400').waitFor()
    await card(page).getByText('this question is too long').waitFor()
    upstream.always(endsEarly({ chunks: ['Half ', 'an ', 'answer'], after: 3 }))
    await page.getByRole('button', { name: 'Retry gpt-4o-mini' }).click()
    await card(page).getByText('Request failed', { exact: true }).waitFor()
    await eventually(() => card(page).getAttribute('data-state')).toBe('failed')
    await page.route('**/v1/chat/completions', (route) => route.abort())
    await page.getByRole('button', { name: 'Retry gpt-4o-mini' }).click()
    await card(page).getByText('Could not reach the server').waitFor()
  })

  test('is not made with an invalid temperature or limit', async () => {
    await using visit = await site.visit({ as: user })
    const { page } = visit
    await visit.open(path())
    const before = upstream.requests.length
    await page.getByLabel('Temperature').fill('2.1')
    await page.getByText('Enter a number from 0 to 2, or leave empty.').waitFor()
    await send(page, 'Hello')
    await eventually(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await page.getByLabel('Temperature').fill('')
    await page.getByLabel('Max tokens').fill('1.5')
    await page.getByText('Enter a whole number of at least 1, or leave empty.').waitFor()
    await eventually(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    expect(upstream.requests.length).toBe(before)
  })
})

test('an answer is rendered as Markdown; nothing in it runs or loads anything', async () => {
  upstream.always(
    ok({
      text: '# Plan\n\n1. **first**\n2. `second`\n\n<img src="https://spy.example/x"><script>window.ran = 1</script>\n\n![a picture](https://spy.example/y)',
    }),
  )
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open(path())
  await send(page, 'plan')
  const answer = page.locator('[data-answer]').last()
  await answer.getByRole('heading', { name: 'Plan' }).waitFor()
  await answer.locator('li strong', { hasText: 'first' }).waitFor()
  await eventually(() => answer.locator('li code').textContent()).toBe('second')
  expect(await answer.locator('img, script').count()).toBe(0)
  const picture = answer.getByRole('link', { name: 'a picture' })
  await eventually(() => picture.getAttribute('href')).toBe('https://spy.example/y')
  await answer.getByText('<script>window.ran = 1</script>').waitFor()
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
})

test('a block of code in an answer can be copied, and wide tables and code scroll by themselves', async () => {
  const line = `x = "${'wide '.repeat(60)}"`
  const table = `| ${'name | '.repeat(30)}\n|${'---|'.repeat(30)}\n| ${'value | '.repeat(30)}`
  upstream.always(
    ok({
      text: `1. Run\n\n   \`\`\`bash\n   a && b < c\n   \`\`\`\n\n\`\`\`python onclick=x\n${line}\n\`\`\`\n\n${table}`,
    }),
  )
  await using visit = await site.visit({ as: user, width: 390 })
  const { page } = visit
  await visit.open(path())
  await send(page, 'code')
  const buttons = card(page).getByRole('button', { name: 'Copy code' })
  await eventually(() => buttons.count()).toBe(2)
  await card(page).getByText('python', { exact: true }).waitFor()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await buttons.first().focus()
  await page.keyboard.press('Enter')
  await eventually(copied).toBe('a && b < c')
  await buttons.last().click()
  await eventually(copied).toBe(line)
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  expect(isWide).toBe(false)
  const scrolls = card(page).locator('pre[tabindex="0"], [data-scroll][tabindex="0"]')
  expect(await scrolls.evaluateAll((all) => all.map((each) => each.scrollWidth > each.clientWidth))).toEqual([
    false,
    true,
    true,
  ])
})

test('the code for the call contains what would be sent; the key is hidden only on the screen', async () => {
  await using visit = await site.visit({ as: user })
  const { page } = visit
  await visit.open(path())
  await page.getByLabel('Temperature').fill('0.4')
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill("What's this?")
  await page.getByRole('button', { name: 'View code' }).click()
  const dialog = page.getByRole('dialog')
  const code = dialog.locator('pre')
  await code.waitFor()
  await eventually(() => code.textContent()).toContain(String.raw`What'\''s this?`)
  await eventually(() => code.textContent()).toContain(`Bearer sk-••••${token.key.slice(-4)}`)
  await dialog.getByText('Python', { exact: true }).click()
  await eventually(() => code.textContent()).toContain('stream=True')
  await dialog.getByText('TypeScript', { exact: true }).click()
  await eventually(() => code.textContent()).toContain('temperature: 0.4,')
  await dialog.getByRole('button', { name: /^Copy/ }).click()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await eventually(copied).toContain(`apiKey: 'sk-${token.key}'`)
})
