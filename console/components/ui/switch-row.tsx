import { type ReactNode, useId } from 'react'

/** The layout of a switch with its label, also used outside forms. */
export function SwitchRow(props: {
  label: ReactNode
  hint?: ReactNode
  children: (ids: { id: string; 'aria-describedby': string | undefined }) => ReactNode
}) {
  const id = useId()
  const hinted = props.hint !== undefined
  return (
    <div className="flex items-start justify-between gap-4">
      <div>
        <label htmlFor={id} className="text-sm font-medium">
          {props.label}
        </label>
        {hinted && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {props.hint}
          </p>
        )}
      </div>
      {props.children({ id, 'aria-describedby': hinted ? `${id}-hint` : undefined })}
    </div>
  )
}
