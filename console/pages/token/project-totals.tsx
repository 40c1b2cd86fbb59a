import { Link } from '@tanstack/react-router'
import type { TokenProject } from '../../../contract/api/token.ts'
import { maxFilterValues } from '../../../contract/filter-values.ts'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { formatCount, formatPercent, useFormatSum } from '../../lib/format.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'

interface ProjectTotalsProps {
  projects: readonly TokenProject[]
  /** Lists the tokens of a project. */
  onChoose(project: string): void
  onClose(): void
}

/** The tokens by project: how many, and how much quota they have used. */
export function ProjectTotals({ projects, onChoose, onClose }: ProjectTotalsProps) {
  const t = useText()
  const formatSum = useFormatSum()
  const byUse = projects.toSorted((one, other) => other.used_quota - one.used_quota)
  const tokens = projects.reduce((sum, each) => sum + each.tokens, 0)
  const used = projects.reduce((sum, each) => sum + each.used_quota, 0)
  return (
    <Dialog
      open
      onClose={onClose}
      width="large"
      title={t('token.projects.title')}
      text={t('token.projects.text')}
      footer={<Button onClick={onClose}>{t('do.close')}</Button>}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region */}
      <section aria-label={t('token.projects.title')} tabIndex={0} className="max-h-[60dvh] overflow-auto">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left text-muted">
              <th scope="col" className="py-1.5 pe-3 font-medium">
                {t('token.project.filter')}
              </th>
              <th scope="col" className="px-3 text-end font-medium">
                {t('token.projects.tokens')}
              </th>
              <th scope="col" className="px-3 text-end font-medium">
                {t('token.projects.used')}
              </th>
              <th scope="col" className="ps-3 text-end font-medium">
                {t('token.projects.share')}
              </th>
              <th scope="col">
                <span className="sr-only">{t('token.projects.usage')}</span>
              </th>
            </tr>
          </thead>
          <tbody className="num divide-y divide-line">
            {byUse.map((each) => (
              <tr key={each.project}>
                <th scope="row" className="max-w-52 py-1.5 pe-3 text-start font-normal">
                  {each.project === '' ? (
                    <span className="text-muted">{t('token.project.none')}</span>
                  ) : (
                    <button
                      type="button"
                      title={each.project}
                      className="max-w-full truncate text-start text-link hover:underline"
                      onClick={() => onChoose(each.project)}
                    >
                      {each.project}
                    </button>
                  )}
                </th>
                <td className="px-3 text-end">{formatCount(each.tokens)}</td>
                <td className="px-3 text-end">{formatSum(each.used_quota)}</td>
                <td className="ps-3 text-end text-muted">{formatPercent(used > 0 ? each.used_quota / used : 0, 0)}</td>
                <td className="ps-3 text-end whitespace-nowrap">
                  <UsageLink project={each} />
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot className="num border-t border-edge font-medium">
            <tr>
              <th scope="row" className="py-1.5 pe-3 text-start font-medium">
                {t('token.projects.sum')}
              </th>
              <td className="px-3 text-end">{formatCount(tokens)}</td>
              <td className="px-3 text-end">{formatSum(used)}</td>
              <td colSpan={2} />
            </tr>
          </tfoot>
        </table>
      </section>
    </Dialog>
  )
}

/**
 * Other people's projects may have the same name, so an admin's link contains the admin's own name. Tokens without a
 * project are found by their names, if these are few enough for a filter.
 */
function UsageLink({ project: { project, token_names: names } }: { project: TokenProject }) {
  const t = useText()
  const user = useSessionUser()
  const isMany = names.length === 0 || names.length >= maxFilterValues
  if (project === '' && isMany) return null
  const tokens = project === '' ? { token: names.join('\n') } : { project, group: 'token' }
  return (
    <Link
      to="/usage"
      search={{ ...tokens, ...(isAdmin(user) && { user: user?.username }) } as never}
      className="text-link hover:underline"
    >
      {t('token.projects.usage')}
    </Link>
  )
}
