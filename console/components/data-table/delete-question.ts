import type { Text } from '../../lib/text.ts'
import type { Question } from '../ui/use-confirm.tsx'

/** The question asked before a row is deleted; `text` describes what will break. */
export function deleteQuestion(t: Text, of: { name: string; text: string; remove: Question['onConfirm'] }): Question {
  return {
    title: t('table.delete.title', { name: of.name }),
    text: of.text,
    confirm: t('do.delete'),
    danger: true,
    onConfirm: of.remove,
  }
}
