import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactSecrets } from './redact-secrets.js'

// Put together here so that no scanner takes this file for a leak.
const KEY = 'Zx81'.repeat(6)

describe('redactSecrets', () => {
  it.each([
    [`Authorization: Bearer ${KEY}`, 'Authorization: Bearer [redacted]'],
    [`authorization=bearer ${KEY}, next`, 'authorization=bearer [redacted], next'],
    [`password=hunter2 user=anna`, 'password=[redacted] user=anna'],
    ['{"api_key": "a\\"b c", "port": 1}', '{"api_key": [redacted], "port": 1}'],
    ["secret => 'x y z'; done", 'secret => [redacted]; done'],
    ['CRUX_AGENT_TOKEN=abc,def', 'CRUX_AGENT_TOKEN=[redacted],def'],
    ['client_secret: "never closed', 'client_secret: [redacted]'],
    [`the token is ${KEY}.`, 'the token is [redacted].'],
    [`key sk-${KEY} in use`, 'key [redacted] in use'],
    [`sk-proj-${KEY}`, '[redacted]'],
    [`ghp_${KEY}`, '[redacted]'],
    [`github_pat_${KEY}`, '[redacted]'],
    [`(AKIA${'ABCD'.repeat(4)})`, '([redacted])'],
    [`xoxb-${KEY}`, '[redacted]'],
    [`eyJ${KEY}.${KEY}.${KEY}`, '[redacted]'],
    [`https://anna:hunter2@example.test/x`, 'https://anna:[redacted]@example.test/x'],
    [`a\n-----BEGIN PRIVATE KEY-----\n${KEY}\n-----END PRIVATE KEY-----\nb`, 'a\n[redacted]\nb'],
    [`a -----BEGIN RSA PRIVATE KEY----- ${KEY}`, 'a [redacted]'],
  ])('hides the secret in %j', (text, expected) => {
    expect(redactSecrets(text)).toBe(expected)
  })

  it.each([
    'Unexpected token } in JSON at position 12',
    'corecruxd ready http=http://127.0.0.1:14800 mcp=http://127.0.0.1:14801/mcp',
    'token_budget 500 of 2000 used',
    'stored fact f_0123456789abcdef0123456789abcdef (entity=service:api, key=port, version=1)',
    'sk-short and risk-assessment-for-everybody',
  ])('leaves %j as it is', (text) => {
    expect(redactSecrets(text)).toBe(text)
  })

  it('changes nothing when run again', () => {
    const word = fc.constantFrom(
      'token=',
      'secret: ',
      '"',
      "'",
      'Bearer ',
      KEY,
      `sk-${KEY}`,
      ' ',
      '\n',
      'password',
      ':',
      '=',
      '-----BEGIN X-----',
      '-----END X-----',
      '://a:b@',
      'eyJ',
      '.',
      '\\',
      '[redacted]',
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const once = redactSecrets(words.join(''))
        expect(redactSecrets(once)).toBe(once)
      }),
    )
  })

  it('leaves no key behind, wherever it stands', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(redactSecrets(`${before}\npassword=${KEY}\n${after}`)).not.toContain(KEY)
        expect(redactSecrets(`${before} ghp_${KEY} ${after}`)).not.toContain(KEY)
      }),
    )
  })

  // Linear time: each of these takes minutes when a pattern is quadratic, and the suite's limit ends it.
  it.each([
    ['eyJ-'],
    ['eyJaaaaa.'],
    ['token '],
    ['token'],
    ['token:"\\"'],
    ['secret= '],
    ['password   :'],
    ['-----BEGIN A-----'],
    ['-----BEGIN '],
    ['sk-'],
    ['://a:'],
    ['a@:'],
    ['bearer  '],
    ['api_key-'],
    ["pwd='"],
    ['A'],
    ['=/+'],
    ['authorization: '],
    ['\\a'],
    ['é'],
  ])('takes a megabyte of %j', (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
    expect(redactSecrets(text).length).toBeGreaterThan(0)
    expect(redactSecrets(`token:"${text}`).length).toBeGreaterThan(0)
    expect(redactSecrets(`token ${text}`).length).toBeGreaterThan(0)
  })
})
