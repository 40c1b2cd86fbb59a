import { downloadFile } from '../../lib/download.ts'
import type { KeptBody, KeptHead } from './kept-store.ts'
import type { Answer, Turn } from './turns.ts'

/** A name that every file system accepts. */
function fileName(title: string, ending: string): string {
  const words = title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '')
  return `${words.slice(0, 60) || 'conversation'}.${ending}`
}

function answerText({ model, rounds }: Answer): string {
  const parts = rounds.flatMap(({ text, calls }) => [
    ...(text === '' ? [] : [text]),
    ...calls.map(({ name, arguments: args, result }) =>
      [`\`${name}(${args})\``, ...(result === undefined ? [] : [`→ \`${result}\``])].join('\n\n'),
    ),
  ])
  return [`## ${model}`, ...parts].join('\n\n')
}

function turnText({ question, attachments, answers }: Turn): string {
  const files = attachments.map(({ name }) => `- ${name}`).join('\n')
  const asked = [files, question].filter((part) => part !== '').map((part) => part.replaceAll(/^/gm, '> '))
  return [...asked, ...answers.map(answerText)].join('\n\n')
}

/** A conversation as readable text. The contents of files are omitted. */
function asMarkdown({ title }: KeptHead, { turns }: KeptBody): string {
  return `${[`# ${title}`, ...turns.map(turnText)].join('\n\n')}\n`
}

/** Saves a conversation as a file. The JSON format contains everything, including attached files. */
export function exportKept(head: KeptHead, body: KeptBody, format: 'md' | 'json'): void {
  const name = fileName(head.title, format)
  if (format === 'md') downloadFile(name, asMarkdown(head, body), 'text/markdown;charset=utf-8')
  else {
    const { title, models, changedAt } = head
    const { turns, settings, extras } = body
    const changed = new Date(changedAt).toISOString()
    const content = JSON.stringify({ title, models, changed, settings, ...extras, turns }, null, 2)
    downloadFile(name, content, 'application/json')
  }
}
