import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { Button, buttonClass } from '../components/ui/button.tsx'
import { PageHeading } from '../components/ui/page-heading.tsx'
import { paletteOpen } from '../lib/commands.ts'
import { useText } from '../lib/text.ts'

/** Shown for unknown paths. */
export function NotFound() {
  const t = useText()
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-24 text-center">
      <PageHeading title={t('notFound.code')} className="text-2xl!" />
      <p className="text-muted">{t('notFound.text')}</p>
      <div className="mt-4 flex flex-wrap justify-center gap-2">
        <Link to="/" className={buttonClass()}>
          {t('notFound.home')}
        </Link>
        <Button icon={<Search />} onClick={() => paletteOpen.set(true)}>
          {t('notFound.search')}
        </Button>
      </div>
    </div>
  )
}
