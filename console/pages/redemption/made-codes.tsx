import { Link } from '@tanstack/react-router'
import { Copy, Download, QrCode } from 'lucide-react'
import { useId } from 'react'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { Card } from '../../components/ui/page.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { downloadFile } from '../../lib/download.ts'
import { useFormatQuota } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { wayToNew } from '../../lib/way-back.ts'

/** Codes that were just created. */
export interface Made {
  /** Name of the saved text file. */
  file: string
  codes: readonly string[]
  name: string
  /** Value of each code, in quota units. */
  quota: number
}

/** The new codes, to copy or save again. */
export function MadeCodes({ made, onMore }: { made: Made; onMore(): void }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const classic = useClassicServer()
  const id = useId()
  const lines = made.codes.map((code) => `${code}\n`).join('')
  return (
    <Card title={t('redemption.made.title', { count: made.codes.length })}>
      <div className="flex flex-col gap-4">
        <p className="text-sm text-muted">
          {t('redemption.made.text', { file: made.file, quota: formatQuota(made.quota) })}
        </p>
        <div className="flex flex-col gap-1">
          <label htmlFor={id} className="text-sm font-medium">
            {t('redemption.made.codes')}
          </label>
          <Textarea
            id={id}
            readOnly
            value={lines}
            rows={Math.min(12, Math.max(2, made.codes.length + 1))}
            className="font-mono text-sm!"
            onFocus={(event) => event.target.select()}
          />
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Button look="primary" icon={<Copy />} onClick={() => void copyText(lines)}>
            {t('redemption.made.copyAll')}
          </Button>
          <Button icon={<Download />} onClick={() => downloadFile(made.file, lines)}>
            {t('redemption.made.download')}
          </Button>
          {!classic && (
            <Link to="/redemption/sheet" search={{ batch: made.name }} className={buttonClass()}>
              <QrCode aria-hidden="true" />
              {t('redemption.sheet.open')}
            </Link>
          )}
          <span className="flex-1" />
          <Button onClick={onMore}>{t('redemption.made.more')}</Button>
          <Link {...wayToNew('/redemption')} className={buttonClass()}>
            {t('redemption.made.list')}
          </Link>
        </div>
      </div>
    </Card>
  )
}
