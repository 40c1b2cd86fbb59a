import { Copy, ExternalLink } from 'lucide-react'
import { Suspense, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { CodeBlock } from '../../components/ui/code-block.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import { keyOf, maskedKey } from '../../lib/token-key.ts'
import { type AppSetup, appSetups } from './app-configs.ts'
import { useModel } from './use-model.ts'

const QrCode = lazy(() => import('../../components/ui/qr-code.tsx').then((it) => ({ default: it.QrCode })))

/**
 * How to set up apps with the key: lines to run, a file, or a link. `masked` hides the key on the screen but not in
 * copied text.
 */
export function AppSetups({ token, masked = false }: { token: Token; masked?: boolean }) {
  const t = useText()
  const [chosen, setChosen] = useState('')
  const key = keyOf(token)
  const setups = appSetups(key, useModel(token), (link) => t(link.name))
  const current = setups.find(({ id }) => id === chosen) ?? setups[0]
  if (!current) return null
  return (
    <section aria-label={t('token.setup')} className="flex min-w-0 flex-col gap-2">
      <h3 className="text-sm font-medium">{t('token.setup')}</h3>
      <div>
        <Segmented
          label={t('token.setup')}
          options={setups.map(({ id, name }) => ({ value: id, label: name }))}
          value={current.id}
          onChange={setChosen}
          wraps
        />
      </div>
      {'href' in current ? (
        <LinkSetup name={current.name} href={current.href} hasCode={!masked} />
      ) : (
        <Blocks setup={current} hide={masked ? { value: key, shown: maskedKey(token) } : undefined} />
      )}
    </section>
  )
}

function Blocks(props: {
  setup: Extract<AppSetup, { blocks: unknown }>
  hide?: { value: string; shown: string } | undefined
}) {
  const { setup, hide } = props
  const t = useText()
  return setup.blocks.map(({ file, code }) => {
    const what = file === undefined ? t('token.setup.shell', { app: setup.name }) : t('token.setup.file', { file })
    return (
      <div key={code} className="flex min-w-0 flex-col gap-1">
        <p className="text-sm text-muted">{what}</p>
        <CodeBlock label={what} code={code} shown={hide ? code.replaceAll(hide.value, hide.shown) : code} />
      </div>
    )
  })
}

/** A link that sets up an app. It can be opened, copied, or scanned with a phone. */
function LinkSetup({ name, href, hasCode }: { name: string; href: string; hasCode: boolean }) {
  const t = useText()
  return (
    <div className="flex min-w-0 items-start gap-4 max-sm:flex-col">
      {hasCode && (
        <Suspense fallback={<Skeleton className="size-52" />}>
          <QrCode text={href} label={t('token.qr.picture', { what: name })} />
        </Suspense>
      )}
      <div className="flex min-w-0 flex-col gap-3">
        <p className="text-sm text-muted">{t('token.setup.link', { app: name })}</p>
        {hasCode && <p className="text-sm text-muted">{t('token.qr.text')}</p>}
        <div className="flex flex-wrap gap-2">
          <a href={href} target="_blank" rel="noreferrer" className={buttonClass()}>
            <ExternalLink aria-hidden="true" />
            {t('token.setup.open', { app: name })}
          </a>
          <Button icon={<Copy />} onClick={() => void copyText(href)}>
            {t('token.setup.copyLink')}
          </Button>
        </div>
      </div>
    </div>
  )
}
