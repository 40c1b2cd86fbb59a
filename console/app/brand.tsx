import { Link } from '@tanstack/react-router'
import { useServerStatus } from '../lib/status.ts'

/** The logo and name of the installation, as a link to the home page. */
export function Brand({ iconOnly = false }: { iconOnly?: boolean }) {
  const { system_name = 'Tollgate', logo } = useServerStatus()
  return (
    <Link to="/" className="flex min-w-0 items-center gap-2.5 rounded-md py-1" aria-label={system_name}>
      <Logo src={logo} />
      {!iconOnly && <span className="truncate font-semibold tracking-[-0.01em]">{system_name}</span>}
    </Link>
  )
}

function Logo({ src }: { src: string | undefined }) {
  if (src) return <img src={src} alt="" width={24} height={24} className="size-6 shrink-0 rounded-md object-contain" />
  return (
    <svg viewBox="0 0 32 32" className="size-6 shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M7 12.5h18M11 12.5V24M21 12.5V24"
        className="stroke-on-accent"
        strokeWidth="2.6"
        strokeLinecap="round"
        fill="none"
      />
      <circle cx="16" cy="19" r="2.2" className="fill-on-accent" />
    </svg>
  )
}
