/** The style sheet of the page, inlined so that the page loads nothing else. */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1a2230; --dim: #4a5668; --paper: #ffffff; --soft: #f2f4f8; --line: #cdd5e0; --link: #0b4fb3; --ring: #0b4fb3 }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8f0; --dim: #aab6c7; --paper: #11151c; --soft: #1b212b; --line: #3a4454; --link: #8ab8ff; --ring: #8ab8ff } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: var(--ink); background: var(--paper) }
a { color: var(--link) }
:focus-visible { outline: 2px solid var(--ring); outline-offset: 2px }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em }
code { overflow-wrap: anywhere }
pre { margin: .5rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 6px }
pre code { overflow-wrap: normal }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper) }
.page { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 80rem; margin: 0 auto }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 1.5rem 1rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: block; padding: .3rem .5rem; border-radius: 4px; text-decoration: none }
nav a:hover { background: var(--soft) }
.body { padding: 1.5rem; min-width: 0 }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem }
h1 small { font-size: 1rem; font-weight: normal; color: var(--dim) }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .25rem }
h3 { display: inline; font-size: 1rem; font-weight: normal; margin: 0 }
h4 { font-size: 1rem; margin: 1.25rem 0 .25rem }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; background: var(--paper) }
summary { padding: .6rem .9rem; cursor: pointer }
details[open] > summary { border-bottom: 1px solid var(--line); background: var(--soft); border-radius: 6px 6px 0 0 }
summary .method { display: inline-block; min-width: 4.2rem; font-weight: 700 }
summary .what { color: var(--dim); margin-left: .5rem }
.inside { padding: .25rem 1rem 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .93rem }
caption { text-align: left; font-weight: 600; padding: .5rem 0 .25rem }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line) }
thead th { color: var(--dim); font-weight: 600 }
tbody th { font-weight: normal }
tbody th code { overflow-wrap: normal }
@media (max-width: 48rem) { .page { display: block } nav { position: static; max-height: none; padding-bottom: 0 } nav ul { display: flex; flex-wrap: wrap } }
@media print { nav, .skip { display: none } .page { display: block } }
`
