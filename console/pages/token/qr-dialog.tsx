import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { nameOf } from '../../components/token-parts.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { QrCode } from '../../components/ui/qr-code.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { serverAddress } from '../../lib/server-address.ts'
import { useText } from '../../lib/text.ts'
import { keyOf } from '../../lib/token-key.ts'
import { appLinks } from './app-links.ts'
import { tokenQuery } from './queries.ts'

/** A dialog with a QR code that sets up an app on a phone, or that contains only the key or the server's address. */
export function TokenQr({ id, onClose }: { id: string; onClose(): void }) {
  const t = useText()
  const query = useQuery(tokenQuery(id))
  return (
    <Dialog
      open
      onClose={onClose}
      title={query.data ? t('token.qr.title', { name: nameOf(query.data, t) }) : t('token.qr')}
      text={t('token.qr.text')}
      footer={<Button onClick={onClose}>{t('do.close')}</Button>}
    >
      {query.isPending && <Skeleton className="mx-auto mt-10 size-52" />}
      {query.isError && (
        <ErrorState title={t('token.notFound')} text={query.error.message} onRetry={() => void query.refetch()} />
      )}
      {query.data && <Code token={query.data} />}
    </Dialog>
  )
}

function Code({ token }: { token: Token }) {
  const t = useText()
  const [chosen, setChosen] = useState('')
  const key = keyOf(token)
  const contents = [
    ...appLinks(key).map((link) => ({ value: link.id as string, label: t(link.name), text: link.href })),
    { value: 'key', label: t('token.qr.key'), text: key },
    { value: 'address', label: t('token.qr.address'), text: serverAddress() },
  ]
  const current = contents.find(({ value }) => value === chosen) ?? contents[0]
  if (!current) return null
  return (
    <div className="flex flex-col items-center gap-4 text-center">
      <Segmented label={t('token.qr.holds')} options={contents} value={current.value} onChange={setChosen} wraps />
      <QrCode text={current.text} label={t('token.qr.picture', { what: current.label })} />
    </div>
  )
}
