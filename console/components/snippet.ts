/** A few lines of code that do one thing in one language. */
export interface Snippet {
  id: string
  label: string
  code: string
}
