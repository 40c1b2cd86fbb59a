import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { saveOption } from '../../store/installation/options.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  beforeEach(async () => {
    api = await createTestApi(await openFresh())
  })
  afterEach(() => api.store.close())

  test('the status document has every field that clients read, with the right type', async () => {
    const { json } = await api.call('GET', '/api/status')
    expect(json.success).toBe(true)
    expect(json.data).toMatchObject({
      version: '0.0.0-test',
      start_time: 1_600_000_000,
      system_name: 'Tollgate',
      quota_per_unit: 500_000,
      display_in_currency: true,
      email_verification: false,
      github_oauth: false,
      password_login_enabled: true,
      public_api_reference: false,
      server_address: '',
    })
  })

  test('notice, about and home page are plain text in data', async () => {
    await api.store.write(async (trx) => {
      await saveOption(trx, 'Notice', '# hello')
      await saveOption(trx, 'About', 'https://about.example')
      await saveOption(trx, 'HomePageContent', 'home')
    })
    await api.settings.reload()
    expect((await api.call('GET', '/api/notice')).json).toEqual({ success: true, message: '', data: '# hello' })
    expect((await api.call('GET', '/api/about')).json.data).toBe('https://about.example')
    expect((await api.call('GET', '/api/home_page_content')).json.data).toBe('home')
  })

  test('the API limits the requests of each client address; the 429 has the JSON envelope and Retry-After', async () => {
    const limited = await createTestApi(api.store, { rateRules: { api: { limit: 2, windowMs: 60_000 } } })
    const call = (address: string) => limited.call('GET', '/api/status', { address })
    await call('192.0.2.1')
    await call('192.0.2.1')
    const refused = await call('192.0.2.1')
    expect(refused.status).toBe(429)
    expect(refused.json).toEqual({ success: false, message: expect.any(String), code: 'too_many_requests' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await call('192.0.2.2')).status).toBe(200)
  })
})
