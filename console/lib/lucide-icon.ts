import { type ComponentProps, createElement, type FunctionComponent } from 'react'

/** An icon of Lucide, as the package describes it. */
interface IconData {
  name: string
  aliases?: readonly string[]
  node: readonly (readonly [tag: string, attributes: Record<string, string>])[]
}

type IconProps = ComponentProps<'svg'>

const frame: IconProps = {
  xmlns: 'http://www.w3.org/2000/svg',
  width: 24,
  height: 24,
  viewBox: '0 0 24 24',
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 2,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
}

const isLabel = (name: string) => name.startsWith('aria-') || name === 'role' || name === 'title'

/**
 * The build uses this in place of the package's function of the same name, which is five times as large, because it
 * supports sizes, colours and a context that the console does not use; styles set them here. Pages wait for it before
 * they are drawn.
 */
// biome-ignore lint/style/noDefaultExport: the package imports it so
export default function createLucideIcon({ name, aliases = [], node }: IconData): FunctionComponent<IconProps> {
  const classes = ['lucide', ...[name, ...aliases].map((each) => `lucide-${each}`)].join(' ')
  return ({ className = '', ...rest }) =>
    createElement(
      'svg',
      {
        ...frame,
        ...(!Object.keys(rest).some(isLabel) && { 'aria-hidden': true }),
        ...rest,
        className: `${classes} ${className}`.trim(),
      },
      ...node.map(([tag, attributes]) => createElement(tag, attributes)),
    )
}
