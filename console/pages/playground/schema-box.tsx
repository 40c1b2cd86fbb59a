import { useId } from 'react'
import { Textarea } from '../../components/ui/input.tsx'
import { type Text, useText } from '../../lib/text.ts'
import { BoxError, Labelled } from './labelled.tsx'
import type { SchemaProblem } from './schema-check.ts'
import { schemaTextProblem } from './tools.ts'

function problemText({ at, what, detail = '' }: SchemaProblem, t: Text): string {
  const problem = t(`playground.schema.wrong.${what}`, { detail })
  return at === '' ? problem : t('playground.schema.at', { at, problem })
}

/** A box for the JSON Schema of an object. It shows errors while the user types. */
export function SchemaBox(props: { label: string; value: string; rows?: number; onChange(value: string): void }) {
  const t = useText()
  const id = useId()
  const problem = schemaTextProblem(props.value)
  return (
    <Labelled id={id} label={props.label}>
      <Textarea
        id={id}
        rows={props.rows ?? 8}
        spellCheck={false}
        className="font-mono text-xs! max-sm:text-base!"
        value={props.value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem ? `${id}-error` : undefined}
        onChange={(event) => props.onChange(event.target.value)}
      />
      {problem && <BoxError id={`${id}-error`}>{problemText(problem, t)}</BoxError>}
    </Labelled>
  )
}
