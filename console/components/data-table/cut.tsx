/** Text in a cell, truncated with an ellipsis; the full text is shown on hover. Renders nothing if there is no text. */
export function Cut({ text, width }: { text: string; width: string }) {
  if (!text) return null
  return (
    <span className={`block truncate ${width}`} title={text}>
      {text}
    </span>
  )
}
