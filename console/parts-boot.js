// Runs before the entry script. While the entry script is loading, this requests the chunks of the page in the URL and,
// for logged-in users, the chunks of its frame. The build replaces the placeholder with the table of chunks.
try {
  const { files, frames, languages, areas, hashes, routes } = firstParts
  const folder = document.currentScript.src.replace(/[^/]*$/, '')
  const path = `/${location.pathname.slice(new URL('..', folder).pathname.length)}`.replace(/(.)\/+$/, '$1')
  let language = 0
  const say = () => document.body.replaceChildren(document.querySelector('template').content.children[language])
  // If one of the console's scripts fails before React has started, the page is unusable, but its frame looks as if it
  // were loading.
  const failed = ({ target, error, filename }) => {
    const script = target.type === 'module' ? target.src : error instanceof SyntaxError ? filename : ''
    if (script.startsWith(folder) && !document.querySelector('#root > :not([aria-hidden])')) say()
  }
  addEventListener('error', failed, true)
  addEventListener('unusable', say)
  // The user is read in the same way as in lib/session.ts and lib/text.ts.
  let user = { role: NaN }
  try {
    const { id, username, role } = JSON.parse(localStorage.getItem('user'))
    if (`${typeof id} ${typeof username} ${typeof role}` === 'number string number') user = { role }
  } catch {
    // If the stored record is invalid, the user counts as logged out.
  }
  const chosen = localStorage.getItem('ui.lang')
  if (chosen !== 'pseudo') {
    const preferred = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0])
    language = [chosen, ...preferred].map((each) => languages.indexOf(each)).find((at) => at >= 0) ?? 0
  }
  const routeOf = (of) => routes.find(([pattern]) => new RegExp(`^${pattern}$`, 'i').test(of))
  const found = routeOf(path)
  const isUser = user.role >= 0
  const wordsFile = (at) => `${areas[at]}.${languages[language]}-${hashes[language]}`
  const [, role, parts, words, ofUsers = []] = found[1] && !isUser ? routeOf('/login') : found
  const place = (element) => document.head.append(element)
  if (user.role >= role) {
    const script = document.createElement('script')
    script.fetchPriority = 'high'
    script.dataset.route = routes.indexOf(found)
    script.src = `${folder}${frames[language]}.js`
    place(script)
  }
  const ofAll = [...parts, ...(isUser ? ofUsers : [])].map((at) => files[at])
  for (const name of [...ofAll, ...words.map(wordsFile)]) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = `${folder}${name}.js`
    place(link)
  }
} catch {
  // Failures are ignored, because the entry script loads what it needs by itself.
}
