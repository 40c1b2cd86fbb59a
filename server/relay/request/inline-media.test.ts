import { describe, expect, test } from 'bun:test'
import { anthropicMessages } from '../../dialects/anthropic-messages/index.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import type { FetchedMedia } from '../../outbound/fetch-media.ts'
import { inlineMedia } from './inline-media.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const asking = (...content: object[]) => openaiChat.decodeRequest({ model: 'm', messages: [{ role: 'user', content }] })

/** A reader that records the URLs that it is asked to read. */
function reader(file: (url: string) => FetchedMedia = () => ({ data: 'AAAA', mediaType: 'image/png' })) {
  const requested: string[] = []
  const read = async (url: string) => {
    requested.push(url)
    return file(url)
  }
  return { requested, read }
}

const sources = (conversation: Awaited<ReturnType<typeof inlineMedia>>) =>
  conversation.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'media' ? [part] : [])))

describe('URLs of files are replaced by their bytes', () => {
  test('each URL is read once, and inline files stay untouched', async () => {
    const { requested, read } = reader()
    const conversation = asking(
      image('https://a.example/1.png'),
      image('https://a.example/1.png'),
      image('data:image/gif;base64,BBBB'),
      { type: 'video_url', video_url: { url: 'https://www.youtube.com/watch?v=x' } },
    )
    const media = sources(await inlineMedia(conversation, read))
    expect(requested).toEqual(['https://a.example/1.png'])
    expect(media.map(({ source }) => source)).toEqual([
      { kind: 'inline', data: 'AAAA', mediaType: 'image/png' },
      { kind: 'inline', data: 'AAAA', mediaType: 'image/png' },
      { kind: 'inline', data: 'BBBB', mediaType: 'image/gif' },
      { kind: 'url', url: 'https://www.youtube.com/watch?v=x' },
    ])
  })

  test('URLs in tool results are replaced too, and a PDF becomes a document even if it was declared as an image', async () => {
    const { read } = reader(() => ({ data: 'JVBE', mediaType: 'application/pdf' }))
    const source = { type: 'url', url: 'https://a.example/x' }
    const conversation = anthropicMessages.decodeRequest({
      model: 'm',
      max_tokens: 1,
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] }] },
      ],
    })
    const [message] = (await inlineMedia(conversation, read)).messages
    const [result] = message?.parts ?? []
    expect(result?.type === 'tool-result' && result.content).toMatchObject([
      { type: 'media', media: 'document', source: { kind: 'inline', data: 'JVBE', mediaType: 'application/pdf' } },
    ])
  })

  test('without URLs, nothing is read or changed', async () => {
    const { requested, read } = reader()
    const conversation = asking({ type: 'text', text: 'Hi' })
    expect(await inlineMedia(conversation, read)).toBe(conversation)
    expect(requested).toEqual([])
  })

  test('a file that cannot be read fails the request', () => {
    const read = () => Promise.reject(new Error('no'))
    expect(inlineMedia(asking(image('https://a.example/1.png')), read)).rejects.toThrow('no')
  })

  test('refuses too many files, and files that are too large in total', async () => {
    const many = Array.from({ length: 33 }, (_, index) => image(`https://a.example/${index}.png`))
    const { requested, read } = reader()
    expect(inlineMedia(asking(...many), read)).rejects.toThrow('at most 32 files')
    expect(requested).toEqual([])
    const large = 'A'.repeat(20 * 1024 * 1024)
    const heavy = reader(() => ({ data: large, mediaType: 'image/png' }))
    expect(inlineMedia(asking(...many.slice(0, 12)), heavy.read)).rejects.toThrow('too large in total')
  })

  test('a file that is referenced many times counts each time', async () => {
    const large = 'A'.repeat(1024 * 1024)
    const { requested, read } = reader(() => ({ data: large, mediaType: 'image/png' }))
    const naming = (times: number) => asking(...Array(times).fill(image('https://a.example/1.png')))
    expect(sources(await inlineMedia(naming(64), read))).toHaveLength(64)
    expect(inlineMedia(naming(65), read)).rejects.toThrow('too large in total')
    expect(requested).toHaveLength(2)
  })
})
