import { Home } from 'lucide-react'
import { useText } from '../../lib/text.ts'
import { useLater } from '../../lib/use-later.ts'
import type { OptionForm } from './use-option-form.ts'

/** A preview of the typed name and logo as they will look at the top of the menu. */
export function BrandPreview({ form }: { form: OptionForm }) {
  const t = useText()
  const typed = (key: string) => {
    const option = form.find(key)
    return option && form.shown(option).trim()
  }
  // The logo is loaded only after the user has stopped typing its URL.
  const logo = useLater(typed('Logo') ?? '')
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 py-4">
      <div className="min-w-0 flex-1 basis-56">
        <p className="text-sm font-medium">{t('setting.brand')}</p>
        <p className="text-sm text-muted">{t('setting.brand.text')}</p>
      </div>
      <div className="flex w-full flex-col gap-3 rounded-md border border-dashed border-line bg-sunken p-3 sm:w-80">
        <p className="flex min-w-0 items-center gap-2.5" data-verbatim>
          <img
            src={/^(?:https?:\/\/[^/]+\.|data:image\/)/.test(logo) ? logo : './logo.svg'}
            alt=""
            className="size-6 shrink-0 rounded-md object-contain"
          />
          <span className="truncate font-semibold tracking-[-0.01em]">{typed('SystemName') || 'Tollgate'}</span>
        </p>
        <p className="flex items-center gap-2.5 text-sm text-muted" aria-hidden="true">
          <Home className="size-4" />
          <span className="h-2 w-20 rounded-full bg-active" />
        </p>
      </div>
    </div>
  )
}
