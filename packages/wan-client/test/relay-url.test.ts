import { describe, expect, it } from 'vitest'
import { WanClient } from '../src/index.js'
import { isLoopback, parseRelayUrl } from '../src/relay-url.js'
import { IDENTITY } from './scene.js'

describe('the relay URL', () => {
  it('is https, or http on this computer; a path before the routes stays', () => {
    expect(parseRelayUrl('https://relay.example/')).toEqual({
      origin: 'https://relay.example',
      basePath: '',
      loopback: false
    })
    expect(parseRelayUrl('https://relay.example:8443/muxbus/')).toMatchObject({
      origin: 'https://relay.example:8443',
      basePath: '/muxbus'
    })
    for (const url of ['http://127.0.0.1:3100', 'http://localhost:1', 'http://[::1]:1', 'http://127.9.9.9']) {
      expect(parseRelayUrl(url).loopback, url).toBe(true)
    }
    expect(parseRelayUrl('http://relay.internal', { allowInsecure: true }).loopback).toBe(false)
    for (const name of ['127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1'])
      expect(isLoopback(name)).toBe(false)
  })

  it.each([
    ['http://relay.example', 'unencrypted'],
    ['https://user:hunter2@relay.example', 'credentials'],
    ['https://relay.example/?token=hunter2', 'before any ?'],
    ['https://relay.example/#hunter2', 'before any ?'],
    ['ftp://relay.example', 'https://'],
    ['relay.example', 'no URL'],
    ['', 'no URL']
  ])('%s is refused, saying why and no secret', (url, why) => {
    expect(() => parseRelayUrl(url)).toThrow(why)
    try {
      parseRelayUrl(url)
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).not.toContain('hunter2')
    }
  })
})

it('an identity or a proxy that cannot be used is refused at once', () => {
  const made =
    (change: object, env = {}) =>
    () =>
      new WanClient(
        { url: 'https://relay.example', identity: { ...IDENTITY, ...change }, token: () => undefined },
        { env }
      )
  expect(made({ install: 'abc' })).toThrow('identity.install must be a UUID')
  expect(made({ host: ' ' })).toThrow('identity.host')
  expect(made({ channel: 'a\nb' })).toThrow('identity.channel')
  expect(made({}, { HTTPS_PROXY: 'proxy hunter2' })).toThrow('HTTPS_PROXY is no URL')
  expect(made({})).not.toThrow()
})
