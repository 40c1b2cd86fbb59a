import { expect, test } from 'bun:test'
import { isMetadataHost } from './metadata-address.ts'

const hostOf = (url: string) => new URL(url).hostname

test('knows the metadata services however they are written', () => {
  for (const url of [
    'http://169.254.169.254',
    'http://0xa9fea9fe',
    'http://2852039166',
    'http://[::ffff:169.254.169.254]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[2002:a9fe:a9fe::]',
    'http://[fd00:ec2::254]',
    'http://metadata.google.internal.',
    'http://METADATA.google.internal',
    'http://100.100.100.200',
  ]) {
    expect([url, isMetadataHost(hostOf(url))]).toEqual([url, true])
  }
})

test('private networks are the operator to use', () => {
  for (const url of [
    'http://127.0.0.1:11434',
    'http://[::1]',
    'http://10.0.0.5',
    'http://ollama',
    'https://api.openai.com',
  ]) {
    expect([url, isMetadataHost(hostOf(url))]).toEqual([url, false])
  }
})
