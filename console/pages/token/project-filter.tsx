import { useQuery } from '@tanstack/react-query'
import { Sigma } from 'lucide-react'
import { Suspense, useState } from 'react'
import type { TokenProject } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { statusText } from '../../components/token-parts.tsx'
import { Button } from '../../components/ui/button.tsx'
import { useFormatSum } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { projectsQuery } from './queries.ts'
import type { TokenSearch } from './search.ts'

const ProjectTotals = lazy(() => import('./project-totals.tsx').then((it) => ({ default: it.ProjectTotals })))

interface TokenFiltersProps {
  search: TokenSearch
  setSearch(change: Pick<TokenSearch, 'status' | 'project' | 'page'>): void
}

const hasProjects = (projects: readonly TokenProject[]) => projects.some(({ project }) => project !== '')

/** True if any token of the user has a project. If none has, nothing about projects is shown. */
export function useHasProjects(): boolean {
  const classic = useClassicServer()
  return hasProjects(useQuery({ ...projectsQuery, enabled: !classic }).data ?? [])
}

/** The filters of the tokens: the status and, if any token has a project, the project and the totals of projects. */
export function TokenFilters({ search, setSearch }: TokenFiltersProps) {
  const t = useText()
  const formatSum = useFormatSum()
  const [open, setOpen] = useState(false)
  const projects = useQuery(projectsQuery).data ?? []
  const { status, project } = search
  const shown = hasProjects(projects) || project !== undefined
  const choose = (change: Pick<TokenSearch, 'status' | 'project'>) => setSearch({ ...change, page: undefined })
  return (
    <FilterBar
      active={Number(status !== undefined) + Number(project !== undefined)}
      onClear={() => choose({ status: undefined, project: undefined })}
      selects={[
        {
          label: t('table.filters.status'),
          all: t('table.filters.statuses'),
          value: status,
          choices: Object.values(tokenStatus).map((each) => ({ value: String(each), label: statusText(each, t) })),
          onChange: (next) => choose({ status: next }),
        },
        ...(shown
          ? [
              {
                label: t('token.project.filter'),
                all: t('token.projects.all'),
                value: project,
                choices: projects
                  .filter((each) => each.project !== '')
                  .map((each) => ({
                    value: each.project,
                    label: t('token.project.choice', {
                      project: each.project,
                      tokens: each.tokens,
                      used: formatSum(each.used_quota),
                    }),
                  })),
                onChange: (next: string | undefined) => choose({ project: next }),
              },
            ]
          : []),
      ]}
    >
      {shown && (
        <Button icon={<Sigma />} aria-haspopup="dialog" onClick={() => setOpen(true)}>
          {t('token.projects.totals')}
        </Button>
      )}
      {open && (
        <Suspense fallback={null}>
          <ProjectTotals
            projects={projects}
            onChoose={(next) => {
              setOpen(false)
              choose({ project: next })
            }}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </FilterBar>
  )
}
