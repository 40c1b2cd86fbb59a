import DOMPurify from 'dompurify'
import { marked } from 'marked'
import { useMemo } from 'react'

/** Attributes that could reach out of the text's own place, or name things of the page. */
const forbidden = ['style', 'class', 'id', 'name', 'for', 'form', 'formaction', 'srcset', 'ping', 'background']

/**
 * Browsers report what the page's policy refuses even while the sanitiser parses. So what runs or styles is taken out of
 * tags before; that is for a quiet console only, the sanitiser decides.
 */
function withoutHandlers(html: string): string {
  return html
    .replaceAll(/<(style|script)\b[\s\S]*?<\/\1\s*>/gi, '')
    .replaceAll(/<[a-z][^>]*>/gi, (tag) => tag.replaceAll(/\s(?:on\w+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, ''))
}

/** Markdown or HTML that administrators wrote → HTML without anything that runs, frames or leaves its place. */
function sanitise(source: string): string {
  const html = marked.parse(source, { async: false, gfm: true })
  const fragment = DOMPurify.sanitize(withoutHandlers(html), {
    USE_PROFILES: { html: true },
    FORBID_TAGS: [
      'style',
      'form',
      'input',
      'button',
      'textarea',
      'select',
      'option',
      'dialog',
      'template',
      'video',
      'audio',
    ],
    FORBID_ATTR: forbidden,
    RETURN_DOM_FRAGMENT: true,
  })
  for (const link of fragment.querySelectorAll('a[href]')) {
    link.setAttribute('target', '_blank')
    link.setAttribute('rel', 'noopener noreferrer')
  }
  for (const image of fragment.querySelectorAll('img')) {
    image.setAttribute('loading', 'lazy')
    if (!image.hasAttribute('alt')) image.setAttribute('alt', '')
  }
  const box = document.createElement('div')
  box.append(fragment)
  return box.innerHTML
}

/** Shows Markdown or HTML from the options, sanitised. Import it lazily: the libraries are large. */
export function SafeHtml({ source, className = '' }: { source: string; className?: string }) {
  const html = useMemo(() => sanitise(source), [source])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: this is the one place, and it is sanitised above
  return <div className={`prose ${className}`} dangerouslySetInnerHTML={{ __html: html }} />
}
