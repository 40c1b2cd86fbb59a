import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { buttonClass } from '../../components/ui/button.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'

/** The link to the form for a new channel. */
export function AddLink() {
  const t = useText()
  return (
    <Link to="/channel/add" className={buttonClass({ look: 'primary' })}>
      <Plus aria-hidden="true" />
      {t('channel.add')}
    </Link>
  )
}

/** Shown while there are no channels. */
export function NoChannels() {
  const t = useText()
  return (
    <EmptyState title={t('channel.empty')} text={t('channel.empty.text')}>
      <AddLink />
    </EmptyState>
  )
}
