// Runs before the first paint: the stored theme and sidebar state are on the page before anything is drawn.
try {
  const known = { theme: ['light', 'dark'], sidebar: ['icons'], density: ['compact'] }
  for (const name in known) {
    const value = localStorage.getItem(`ui.${name}`)
    if (known[name].includes(value)) document.documentElement.dataset[name] = value
  }
} catch {
  // Storage may be refused; the system's theme is then shown.
}
