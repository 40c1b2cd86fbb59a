import { useQuery } from '@tanstack/react-query'
import { statusApi } from '../../contract/api/status.ts'
import { SafeHtml } from '../components/safe-html.tsx'
import { Dialog } from '../components/ui/dialog.tsx'
import { Loading } from '../components/ui/states.tsx'
import { call } from '../lib/call.ts'
import { useText } from '../lib/text.ts'

/** The notice of the installation, to be read again. */
export function Notices({ onClose }: { onClose(): void }) {
  const t = useText()
  const notice = useQuery({ queryKey: ['notice'], queryFn: ({ signal }) => call(statusApi.notice, {}, { signal }) })
  return (
    <Dialog open onClose={onClose} title={t('app.notices')} width="large">
      {notice.isPending && <Loading what={t('app.notices')} />}
      {notice.isSuccess && (notice.data === '' ? <p>{t('app.notices.none')}</p> : <SafeHtml source={notice.data} />)}
      {notice.isError && <p role="alert">{notice.error.message}</p>}
    </Dialog>
  )
}
