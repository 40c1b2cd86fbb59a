import { type ComponentProps, createElement, type FunctionComponent } from 'react'

/** An icon of the Lucide package, in the package's format. */
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
 * Replaces the package's function of the same name in the build. That function is five times as large, because it
 * supports a context, sizes and colours. The console does not use a context, and sets sizes and colours with styles.
 * The size matters, because no page is drawn before this function has loaded.
 */
// biome-ignore lint/style/noDefaultExport: the package imports the default export
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
