/** A text in a cell that is cut with an ellipsis; whole for the pointer. Nothing at all where there is no text. */
export function Cut({ text, width }: { text: string; width: string }) {
  if (!text) return null
  return (
    <span className={`block truncate ${width}`} title={text}>
      {text}
    </span>
  )
}
