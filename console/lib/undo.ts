import { text } from './text.ts'
import { toast, undoDurationMs } from './toast.ts'

/** Shows what was done and, for 8 seconds, offers to undo it. */
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
