import { text } from './text.ts'
import { toast, undoDurationMs } from './toast.ts'

/** Shows what was done and offers to undo it for 8 seconds. */
export function toastWithUndo(message: string, undo: () => Promise<unknown>): void {
  toast.success(message, {
    durationMs: undoDurationMs,
    action: {
      label: text('do.undo'),
      run: () => {
        // The call itself shows an error.
        undo().then(
          () => toast.success(text('done.undone')),
          () => undefined,
        )
      },
    },
  })
}
