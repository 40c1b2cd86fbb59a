import DOMPurify from 'dompurify'
import { Marked, marked } from 'marked'
import { useMemo } from 'react'

/** Attributes that could affect the page outside the text or refer to its elements. */
const forbidden = ['style', 'class', 'id', 'name', 'for', 'form', 'formaction', 'srcset', 'ping', 'background']

/**
 * Removes code and styles from tags before the sanitiser parses the text, because browsers report violations of the
 * page's content security policy even during parsing. This only keeps the browser's console quiet. Safety depends on
 * the sanitiser.
 */
function withoutHandlers(html: string): string {
  return html
    .replaceAll(/<(style|script)\b[\s\S]*?<\/\1\s*>/gi, '')
    .replaceAll(/<[a-z][^>]*>/gi, (tag) => tag.replaceAll(/\s(?:on\w+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, ''))
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/**
 * Renders a model's output. HTML in it is shown as text. Images are not loaded, because a request would reveal the
 * reader to the image's server.
 */
const answers = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    code: ({ text, lang = '' }) =>
      `<pre data-language="${escaped(/^[\w+#.-]*/.exec(lang)?.[0] ?? '')}"><code>${escaped(text)}\n</code></pre>\n`,
    // Headings are one level below the heading of the page.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 1)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`
    },
  },
})

/**
 * Converts a model's Markdown to HTML without images, scripts, frames or anything else that could affect the rest of
 * the page. Every block of code gets a button with the attribute `data-copy` and the label `copy`.
 */
export function answerHtml(source: string, copy: string): string {
  const fragment = sanitised(answers.parse(source, { async: false }), ['img', 'svg', 'picture', 'source'])
  for (const block of fragment.querySelectorAll('pre')) addCopyButton(block, copy)
  for (const table of fragment.querySelectorAll('table')) {
    const box = framed(table)
    box.dataset['scroll'] = ''
    box.tabIndex = 0
  }
  return htmlOf(fragment)
}

/** Wraps an element in a box. */
function framed(element: HTMLElement): HTMLElement {
  const box = document.createElement('div')
  element.replaceWith(box)
  box.append(element)
  return box
}

function addCopyButton(block: HTMLElement, copy: string): void {
  const language = block.dataset['language'] ?? ''
  const bar = document.createElement('div')
  const name = document.createElement('span')
  const button = document.createElement('button')
  bar.dataset['codeBar'] = ''
  name.textContent = language
  button.type = 'button'
  button.dataset['copy'] = ''
  button.textContent = copy
  bar.append(name, button)
  // The keyboard must be able to scroll the block.
  block.tabIndex = 0
  const box = framed(block)
  box.dataset['code'] = ''
  box.prepend(bar)
}

function htmlOf(fragment: DocumentFragment): string {
  const box = document.createElement('div')
  box.append(fragment)
  return box.innerHTML
}

/** Returns HTML without scripts, frames or anything else that could affect the rest of the page. */
function sanitised(html: string, alsoForbidden: readonly string[] = []): DocumentFragment {
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
      ...alsoForbidden,
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
  return fragment
}

/** Shows sanitised Markdown or HTML from the options. Import this module lazily, because its libraries are large. */
export function SafeHtml({ source, className = '' }: { source: string; className?: string }) {
  const html = useMemo(() => htmlOf(sanitised(marked.parse(source, { async: false, gfm: true }))), [source])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: `html` is sanitised above
  return <div className={`prose ${className}`} dangerouslySetInnerHTML={{ __html: html }} />
}
