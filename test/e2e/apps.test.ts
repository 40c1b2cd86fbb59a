// Setting up apps with a token: filled-in commands and files, QR codes for phones, and what a token was used for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import decodeQR from 'qr/decode.js'
import { type FakeUpstream, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type Account, openConsole } from './support/console.ts'
import { eventually } from './support/eventually.ts'
import { choose } from './support/lists.ts'

const site = openConsole()
let upstream: FakeUpstream
let owner: Account
let key = ''
let id = 0

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(ok({ text: 'hello' }))
  const channel = { type: 8, key: 'k', name: 'one', group: 'default', base_url: upstream.url }
  // A chat model is the default, although a model of another kind is listed before it.
  await site.api('POST', '/api/channel/', { ...channel, models: 'dall-e-2,gpt-4o-mini' })
  owner = await site.addUser('owner', { quota: 10_000_000 })
  const fields = { name: 'laptop', remain_quota: 0, unlimited_quota: true, expired_time: -1 }
  const made = await site.apiAs<{ id: number; key: string }>(owner, 'POST', '/api/token/', fields)
  key = `sk-${made.key}`
  id = made.id
})
afterAll(() => upstream[Symbol.asyncDispose]())

/** Reads the QR code shown on the screen. */
async function scanned(code: Locator): Promise<string> {
  await code.waitFor()
  const picture = (await code.screenshot({ animations: 'disabled' })).toString('base64')
  const { width, height, pixels } = await code.page().evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(image.width, image.height)
    canvas.getContext('2d')?.drawImage(image, 0, 0)
    const { data } = canvas.getContext('2d')?.getImageData(0, 0, image.width, image.height) ?? { data: [] }
    // The pixels are passed as text, because passing a list of half a million numbers takes seconds.
    const text = [...data].map((value) => String.fromCharCode(value)).join('')
    return { width: image.width, height: image.height, pixels: btoa(text) }
  }, picture)
  return decodeQR({ width, height, data: new Uint8Array(Buffer.from(pixels, 'base64')) })
}

/** The variables that a shell snippet sets. */
const variablesOf = (lines: string) =>
  Object.fromEntries([...lines.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]))

async function ask(url: string, headers: Record<string, string>, body: unknown): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, expect.stringContaining('hello')])
  return text
}

const messages = [{ role: 'user', content: 'Hi' }]

describe('QR codes', () => {
  for (const theme of ['light', 'dark'] as const) {
    test(`contain an app link, the key or the address, and can be scanned in the ${theme} theme`, async () => {
      await site.api('PUT', '/api/option/', { key: 'ServerAddress', value: 'https://gateway.example.com' })
      await using visit = await site.visit({ as: owner, theme })
      const { page } = visit
      await visit.open('/token')
      await choose(page, 'laptop', 'QR code')
      const dialog = page.getByRole('dialog', { name: 'QR code of laptop' })
      const server = encodeURIComponent('https://gateway.example.com')
      expect(await scanned(dialog.getByRole('img', { name: 'QR code: AMA (BotGem)' }))).toBe(
        `ama://set-api-key?server=${server}&key=${key}`,
      )
      const contents = {
        OpenCat: `opencat://team/join?domain=${server}&token=${key}`,
        'Key only': key,
        'Base URL only': 'https://gateway.example.com',
      }
      for (const [what, text] of Object.entries(contents)) {
        await dialog.getByText(what, { exact: true }).click()
        expect(await scanned(dialog.getByRole('img', { name: `QR code: ${what}` }))).toBe(text)
      }
      expect(new URL(page.url()).searchParams.get('qr')).toBe(String(id))
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      expect(page.url()).toEndWith('/token')
      await site.api('PUT', '/api/option/', { key: 'ServerAddress', value: '' })
    })
  }

  test('show a message for an unknown token', async () => {
    await using visit = await site.visit({ as: owner, language: 'zh', width: 390 })
    await visit.open('/token?qr=999')
    await visit.page.getByRole('dialog').getByText('未找到该令牌', { exact: true }).waitFor()
  })
})

describe('apps', () => {
  test('have working commands and files for each dialect', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?start=${id}`)
    const setup = page.getByRole('dialog').getByRole('region', { name: 'Set up an app' })
    const code = setup.locator('pre')
    const lines = async (app: string) => {
      await setup.getByText(app, { exact: true }).click()
      await setup.getByText(`Run this in the shell that starts`).first().waitFor()
      return variablesOf((await code.allTextContents()).join('\n'))
    }
    await eventually(() => code.first().textContent()).toContain('gpt-4o-mini')

    const claude = await lines('Claude Code')
    await ask(
      `${claude['ANTHROPIC_BASE_URL']}/v1/messages`,
      { authorization: `Bearer ${claude['ANTHROPIC_AUTH_TOKEN']}`, 'anthropic-version': '2023-06-01' },
      { model: claude['ANTHROPIC_MODEL'], max_tokens: 10, messages },
    )
    const gemini = await lines('Gemini CLI')
    await ask(
      `${gemini['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/${gemini['GEMINI_MODEL']}:generateContent`,
      { 'x-goog-api-key': gemini['GEMINI_API_KEY'] ?? '' },
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    )
    const webui = await lines('Open WebUI')
    await ask(
      `${webui['OPENAI_API_BASE_URL']}/chat/completions`,
      { authorization: `Bearer ${webui['OPENAI_API_KEY']}` },
      { model: 'gpt-4o-mini', messages },
    )
    const codex = await lines('Codex')
    await setup.getByText('Add this to ~/.codex/config.toml:').waitFor()
    const file = Bun.TOML.parse((await code.first().textContent()) ?? '') as {
      model: string
      model_provider: string
      model_providers: Record<string, { base_url: string; env_key: string; wire_api: string }>
    }
    const provider = file.model_providers[file.model_provider]
    expect(provider?.wire_api).toBe('responses')
    await ask(
      `${provider?.base_url}/responses`,
      { authorization: `Bearer ${codex[provider?.env_key ?? '']}` },
      { model: file.model, input: 'Hi' },
    )
  })

  test('have commands in which the model name is quoted, so that a shell runs no part of it', async () => {
    const model = `it's $(echo run) "\`echo run\`" \\ \u6a21;echo run`
    const channel = { type: 8, key: 'k', name: 'odd', group: 'default', base_url: upstream.url }
    await site.api('POST', '/api/channel/', { ...channel, models: model })
    const fields = { name: 'odd', remain_quota: 0, unlimited_quota: true, expired_time: -1, models: model }
    const { id: odd } = await site.apiAs<{ id: number }>(owner, 'POST', '/api/token/', fields)
    await using visit = await site.visit({ as: owner })
    await visit.open(`/token?start=${odd}`)
    const setup = visit.page.getByRole('dialog').getByRole('region', { name: 'Set up an app' })
    const code = setup.locator('pre').first()
    await setup.getByText('Claude Code', { exact: true }).click()
    await eventually(() => code.textContent()).toContain('run')
    const shell = Bun.spawnSync(['sh', '-c', `${await code.textContent()}\nprintf %s "$ANTHROPIC_MODEL"`])
    expect(shell.stdout.toString()).toBe(model)
    await setup.getByText('Codex', { exact: true }).click()
    await setup.getByText('Add this to ~/.codex/config.toml:').waitFor()
    expect(Bun.TOML.parse((await code.textContent()) ?? '')).toMatchObject({ model })
  })

  test('that open with a link can be opened, copied and scanned', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?start=${id}`)
    const setup = page.getByRole('dialog').getByRole('region', { name: 'Set up an app' })
    await setup.getByText('OpenCat', { exact: true }).click()
    const link = (await setup.getByRole('link', { name: 'Open OpenCat' }).getAttribute('href')) ?? ''
    expect(link).toBe(`opencat://team/join?domain=${encodeURIComponent(site.gateway.url)}&token=${key}`)
    await setup.getByRole('button', { name: 'Copy link' }).click()
    await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, link)
    expect(await scanned(setup.getByRole('img', { name: 'QR code: OpenCat' }))).toBe(link)
  })

  test('that are coding agents have files or commands with the address, key and model', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?start=${id}`)
    const setup = page.getByRole('dialog').getByRole('region', { name: 'Set up an app' })
    await eventually(() => setup.locator('pre').first().textContent()).toContain('gpt-4o-mini')
    const base = `${site.gateway.url}/v1`
    for (const [app, isJson] of [
      ['opencode', true],
      ['qwen-code', false],
      ['Copilot CLI', false],
      ['cline', true],
      ['pi', true],
      ['crush', true],
      ['Continue', false],
    ] as const) {
      await setup.getByText(app, { exact: true }).click()
      await eventually(async () => (await setup.locator('pre').allTextContents()).join('')).toContain(base)
      const text = (await setup.locator('pre').allTextContents()).join('\n')
      for (const part of [base, key, 'gpt-4o-mini']) expect([app, text]).toEqual([app, expect.stringContaining(part)])
      if (isJson) expect(JSON.parse(text)).toBeObject()
    }
  })

  test('that are installed on the user’s computer (cc-switch and Cherry Studio) are set up with a link', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?start=${id}`)
    const setup = page.getByRole('dialog').getByRole('region', { name: 'Set up an app' })
    const { url } = site.gateway
    const linkOf = async (name: string) => {
      await setup.getByText(name, { exact: true }).click()
      return new URL((await setup.getByRole('link', { name: `Open ${name}` }).getAttribute('href')) ?? '')
    }
    for (const [name, app, endpoint] of [
      ['cc-switch (Claude Code)', 'claude', url],
      ['cc-switch (Codex)', 'codex', `${url}/v1`],
      ['cc-switch (Gemini CLI)', 'gemini', url],
    ] as const) {
      const link = await linkOf(name)
      expect(link.href).toStartWith('ccswitch://v1/import?')
      expect(Object.fromEntries(link.searchParams)).toEqual({
        resource: 'provider',
        app,
        name: new URL(url).host,
        endpoint,
        apiKey: key,
        model: 'gpt-4o-mini',
        homepage: url,
      })
    }
    const cherry = await linkOf('Cherry Studio')
    expect(cherry.href).toStartWith('cherrystudio://providers/api-keys?v=1&')
    expect(JSON.parse(atob(cherry.searchParams.get('data') ?? ''))).toMatchObject({ baseUrl: url, apiKey: key })
  })

  test('in the drawer hide the key on the screen, but not in the copied text, and show no QR code', async () => {
    await using visit = await site.visit({ as: owner })
    const { page } = visit
    await visit.open(`/token?peek=${id}`)
    const setup = page.getByRole('dialog').getByRole('region', { name: 'Set up an app' })
    await eventually(() => setup.locator('pre').textContent()).toContain('ANTHROPIC_AUTH_TOKEN=sk-••••')
    expect(await setup.textContent()).not.toContain(key)
    await setup.getByRole('button', { name: /^Copy:/ }).click()
    await page.waitForFunction(async (text) => (await navigator.clipboard.readText()).includes(text), key)
    await setup.getByText('OpenCat', { exact: true }).click()
    await setup.getByRole('button', { name: 'Copy link' }).waitFor()
    expect(await setup.getByRole('img').count()).toBe(0)
  })
})

test('the drawer shows what a token spent in 14 days, and on which models', async () => {
  const fields = { name: 'other', remain_quota: 0, unlimited_quota: true, expired_time: -1 }
  const other = await site.apiAs<{ id: number }>(owner, 'POST', '/api/token/', fields)
  await ask(
    `${site.gateway.url}/v1/chat/completions`,
    { authorization: `Bearer ${key}` },
    { model: 'gpt-4o-mini', messages },
  )
  await using visit = await site.visit({ as: owner })
  const { page } = visit
  await visit.open(`/token?peek=${id}`)
  const use = page.getByRole('dialog').getByRole('region', { name: 'Last 14 days' })
  await use.getByRole('listitem').filter({ hasText: 'gpt-4o-mini' }).filter({ hasText: '100%' }).waitFor()
  const { used_quota } = await site.apiAs<{ used_quota: number }>(owner, 'GET', `/api/token/${id}`)
  // The amount is less than a cent, so all digits are shown.
  await use.getByRole('img', { name: `$${(used_quota / 500_000).toFixed(6)} in 14 days`, exact: true }).waitFor()
  await use.getByRole('link', { name: 'View usage' }).click()
  await page.waitForURL((url) => url.pathname.endsWith('/usage'))
  const token = new URL(page.url()).searchParams.get('token')
  await page.getByRole('button', { name: `Token is ${token}` }).waitFor()
  await page.getByRole('link', { name: 'Logs of gpt-4o-mini', exact: true }).waitFor()
  await visit.open(`/token?peek=${other.id}`)
  await page.getByText('No spend in the last 14 days.').waitFor()
})
