import { CopyField } from '../../components/ui/copy-field.tsx'
import { serverAddress } from '../../lib/server-address.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'

/** The base URL for API clients, which they use together with a token. */
export function BaseUrl() {
  const t = useText()
  // Renders again when the status document changes, because that contains the configured address.
  useServerStatus()
  return (
    <div className="flex min-w-0 items-center gap-2 text-sm text-muted max-sm:w-full max-sm:flex-col max-sm:items-stretch max-sm:gap-1">
      <span className="shrink-0">{t('token.address')}</span>
      <div className="min-w-0 text-fg">
        <CopyField label={t('token.address')} value={`${serverAddress()}/v1`} />
      </div>
    </div>
  )
}
