import { expect, test } from 'bun:test'
import { isMetadataHost } from './metadata-address.ts'

const hostOf = (url: string) => new URL(url).hostname

test('the metadata service of a cloud is recognized in any notation of its address', () => {
  for (const url of [
    'http://169.254.169.254',
    'http://0xa9fea9fe',
    'http://2852039166',
    'http://[::ffff:169.254.169.254]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[2002:a9fe:a9fe::]',
    'http://[64:ff9b:1::a9fe:a9fe]',
    'http://[64:ff9b:1:a9fe:a9:fe00::]',
    'http://[64:ff9b:1:ffff::a9fe:a9fe]',
    'http://[::ffff:0:a9fe:a9fe]',
    'http://[2001:0:a9fe:a9fe::]',
    'http://[2001:0:102:304::5601:5601]',
    'http://[2001:db8::5efe:a9fe:a9fe]',
    'http://[2001:db8::200:5efe:a9fe:a9fe]',
    'http://[64:ff9b:1::6464:64c8]',
    'http://[fd00:ec2::254]',
    'http://metadata.google.internal.',
    'http://METADATA.google.internal',
    'http://100.100.100.200',
  ]) {
    expect([url, isMetadataHost(hostOf(url))]).toEqual([url, true])
  }
})

test('addresses of private networks are not treated as metadata services', () => {
  for (const url of [
    'http://127.0.0.1:11434',
    'http://[::1]',
    'http://10.0.0.5',
    'http://[64:ff9b:1::a00:5]',
    'http://[2001:0:102:304::f5ff:fffa]',
    'http://[2001:db8::5efe:a00:5]',
    'http://[2606:4700::1111]',
    'http://ollama',
    'https://api.openai.com',
  ]) {
    expect([url, isMetadataHost(hostOf(url))]).toEqual([url, false])
  }
})
