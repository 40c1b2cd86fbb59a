// Draws the frame and the heading of the page in the URL until React takes over, so that visitors immediately see where
// they are. The build replaces the placeholder with the headings of all routes. Screen readers ignore this and read
// only the page itself.
{
  const [title, text, width, unlessStored, unlessQuery] = frameHeadings[document.currentScript.dataset.route] ?? []
  const box = (className, ...content) => {
    const element = document.createElement('div')
    element.className = className
    element.append(...content)
    return element
  }
  const draw = () => {
    const root = document.querySelector('#root')
    if (!root || root.firstChild) return
    const folded = document.documentElement.dataset.sidebar === 'icons'
    const heading = [box('text-xl font-semibold tracking-[-0.01em] first-letter:uppercase', title)]
    if (text) heading.push(box('mt-0.5 text-sm text-muted', text))
    const lines = ['w-full', 'w-3/4', 'w-full', 'w-3/4', 'w-full'].map((length) => box(`skeleton h-4 ${length}`))
    const waiting = box('appear-late flex flex-col gap-6 rounded-lg border border-line bg-surface p-4', ...lines)
    const page = box(`mx-auto w-full ${width || 'max-w-[1280px]'}`, box('mb-4', ...heading), waiting)
    const frame = box(
      'flex min-h-dvh',
      box(`hidden shrink-0 border-r border-line bg-sunken sm:block ${folded ? 'w-14' : 'w-14 lg:w-58'}`),
      box(
        'flex min-w-0 flex-1 flex-col',
        box('h-14 shrink-0 border-b border-line'),
        box('flex-1 px-4 py-5 sm:px-6 lg:px-8', page),
      ),
    )
    frame.ariaHidden = 'true'
    root.append(frame)
  }
  const isOther = localStorage.getItem(unlessStored) || (unlessQuery && location.search.includes(unlessQuery))
  if (title && !isOther) {
    // If this script comes from the browser's cache, it may run before the page is parsed. DOMContentLoaded would be
    // too late, because it waits for the entry script.
    if (document.querySelector('#root')) draw()
    else document.addEventListener('readystatechange', draw, { once: true })
  }
}
