import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/** Public facts about this server; the console keeps a copy of them. */
export const statusSchema = z.object({
  version: z.string(),
  start_time: z.int().check(z.describe('Epoch seconds.')),
  email_verification: z.boolean().check(z.describe('True if registration requires a code sent by email.')),
  github_oauth: z.boolean(),
  github_client_id: z.string(),
  system_name: z.string(),
  logo: z.string(),
  footer_html: z.string().check(z.describe('HTML; must be sanitised before it is shown.')),
  wechat_qrcode: z.string(),
  wechat_login: z.boolean(),
  server_address: z.string(),
  turnstile_check: z.boolean().check(z.describe('True if registration and requests for emails require the bot check.')),
  turnstile_site_key: z.string(),
  top_up_link: z.string(),
  chat_link: z.string(),
  quota_per_unit: z.number().check(z.describe('Quota units per unit of currency.')),
  display_in_currency: z.boolean().check(z.describe('True if quota is shown as currency.')),
  /** Tollgate added the fields from here on; one-api does not have them. */
  register_enabled: z.boolean(),
  password_register_enabled: z.boolean(),
  password_login_enabled: z.boolean(),
  status_page: z.boolean().check(z.describe('True if everybody can see the status page.')),
  public_models: z.boolean().check(z.describe('True if visitors can see the models and their prices.')),
  public_api_reference: z.boolean().check(z.describe('True if visitors can see the API reference in the console.')),
})

export type Status = z.output<typeof statusSchema>

const page = (path: string, summary: string) =>
  endpoint({ method: 'GET', path, access: 'public', data: z.string(), summary })

export const statusApi = {
  status: endpoint({
    method: 'GET',
    path: '/api/status',
    access: 'public',
    data: statusSchema,
    summary: 'Get the status document',
  }),
  notice: page('/api/notice', 'Get the notice, as Markdown or HTML'),
  about: page('/api/about', 'Get the about page, as Markdown or an https URL'),
  homePageContent: page('/api/home_page_content', 'Get the home page, as Markdown or an https URL'),
}
