import { text } from './text.ts'
import { toast, undoDurationMs } from './toast.ts'

/** Shows a message about an action, and offers to undo the action for 8 seconds. */
export function toastWithUndo(message: string, undo: () => Promise<unknown>): void {
  toast.success(message, {
    durationMs: undoDurationMs,
    action: {
      label: text('do.undo'),
      run: () => {
        // If the call fails, it shows its own error.
        undo().then(
          () => toast.success(text('done.undone')),
          () => undefined,
        )
      },
    },
  })
}
