import { type ComponentProps, useEffect, useRef } from 'react'

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'ref'> {
  /** Some but not all items are checked. */
  indeterminate?: boolean
}

/** A checkbox without its label. */
export function Checkbox({ indeterminate = false, className = '', ...rest }: CheckboxProps) {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = indeterminate
  }, [indeterminate])
  return <input ref={box} type="checkbox" className={`check ${className}`} {...rest} />
}
