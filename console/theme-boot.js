// Runs before the first paint: applies the stored theme and sidebar state before anything is drawn.
try {
  const known = { theme: ['light', 'dark'], sidebar: ['icons'], density: ['compact'] }
  for (const name in known) {
    const value = localStorage.getItem(`ui.${name}`)
    if (known[name].includes(value)) document.documentElement.dataset[name] = value
  }
} catch {
  // Storage may be refused; the system's theme is then used.
}
