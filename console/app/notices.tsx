import { useQuery } from '@tanstack/react-query'
import { SafeHtml } from '../components/safe-html.tsx'
import { Dialog } from '../components/ui/dialog.tsx'
import { Loading } from '../components/ui/states.tsx'
import { noticeQuery } from '../lib/notice.ts'
import { useText } from '../lib/text.ts'

/** The installation's notice, so that users can read it again. */
export function Notices({ onClose }: { onClose(): void }) {
  const t = useText()
  const notice = useQuery(noticeQuery)
  return (
    <Dialog open onClose={onClose} title={t('app.notices')} width="large">
      {notice.isPending && <Loading what={t('app.notices')} />}
      {notice.isSuccess && (notice.data === '' ? <p>{t('app.notices.none')}</p> : <SafeHtml source={notice.data} />)}
      {notice.isError && <p role="alert">{notice.error.message}</p>}
    </Dialog>
  )
}
