import { api } from '../../../contract/api/index.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import type { ApiDeps } from '../deps.ts'

/** Public data: the status document and the texts of the public pages. */
export function mountStatus(
  router: ApiRouter,
  { settings, version, startTime }: Pick<ApiDeps, 'settings' | 'version' | 'startTime'>,
): void {
  servePublic(router, api.status.status, () => {
    const now = settings.current()
    return {
      version,
      start_time: startTime,
      email_verification: now.EmailVerificationEnabled,
      github_oauth: now.GitHubOAuthEnabled && now.GitHubClientId !== '',
      github_client_id: now.GitHubClientId,
      system_name: now.SystemName,
      logo: now.Logo,
      footer_html: now.Footer,
      wechat_qrcode: now.WeChatAccountQRCodeImageURL,
      wechat_login: now.WeChatAuthEnabled && now.WeChatServerAddress !== '',
      server_address: now.ServerAddress,
      turnstile_check: now.TurnstileCheckEnabled,
      turnstile_site_key: now.TurnstileSiteKey,
      top_up_link: now.TopUpLink,
      chat_link: now.ChatLink,
      quota_per_unit: now.QuotaPerUnit,
      display_in_currency: now.DisplayInCurrencyEnabled,
      register_enabled: now.RegisterEnabled,
      password_register_enabled: now.PasswordRegisterEnabled,
      password_login_enabled: now.PasswordLoginEnabled,
      status_page: now.StatusPageEnabled,
      public_models: now.PublicModelsEnabled,
      public_api_reference: now.PublicApiReferenceEnabled,
    }
  })
  servePublic(router, api.status.notice, () => settings.current().Notice)
  servePublic(router, api.status.about, () => settings.current().About)
  servePublic(router, api.status.homePageContent, () => settings.current().HomePageContent)
}
