import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Control } from 'react-hook-form'
import { TextField } from '../../components/form/text-field.tsx'
import { useText } from '../../lib/text.ts'
import type { TokenValues } from './form-values.ts'
import { projectsQuery } from './queries.ts'

/** The project of the token: one of those in use, which are suggested, or a new name. */
export function ProjectField({ control }: { control: Control<TokenValues> }) {
  const t = useText()
  const list = useId()
  const projects = useQuery(projectsQuery).data ?? []
  return (
    <>
      <TextField
        control={control}
        name="project"
        label={t('token.form.project')}
        hint={t('token.form.project.hint')}
        optional
        autoComplete="off"
        list={list}
      />
      <datalist id={list}>
        {projects.map(({ project }) => project !== '' && <option key={project} value={project} />)}
      </datalist>
    </>
  )
}
