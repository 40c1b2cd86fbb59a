const meta = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')

/**
 * Path under which the console is served, without the final slash: '' or '/gateway'. The server writes it into the
 * page.
 */
export const basePath = (meta?.content ?? '/').replace(/\/+$/, '')

/** Full address of a path on this server, for links that leave the browser. */
export function absoluteUrl(path: string): string {
  return `${location.origin}${basePath}${path}`
}
