/**
 * Tells the user that the list covers only the newest rows, and how many. The message is below the list, so that it
 * does not shift anything.
 */
export function NewestOnly({ text }: { text: string }) {
  return <p className="pt-1 text-sm text-muted">{text}</p>
}
