import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractStatements } from './extract-statements.js'

const read = (text: string) =>
  extractStatements(text).statements.map(({ entity, key, value, rule }) => [
    rule,
    entity,
    key,
    value,
  ])

describe('extractStatements', () => {
  it.each([
    ['The port of the api is 9090.', 'property', 'api', 'port', '9090'],
    ['our region for staging is now eu-west-1', 'property', 'staging', 'region', 'eu-west-1'],
    ['Remember that the owner of billing is Rita!', 'property', 'billing', 'owner', 'Rita'],
    [
      'We decided to keep SQLite for the tests.',
      'decision',
      'decision',
      'keep-sqlite-for-the-tests',
      'We decided to keep SQLite for the tests',
    ],
    ['Decision: no cron jobs', 'decision', 'decision', 'no-cron-jobs', 'Decision: no cron jobs'],
    [
      '- Please never push to main',
      'preference',
      'preference',
      'never-push-to-main',
      'never push to main',
    ],
    [
      'I prefer tabs over spaces.',
      'preference',
      'preference',
      'i-prefer-tabs-over-spaces',
      'I prefer tabs over spaces',
    ],
    [
      'Remember: backups run on Sunday.',
      'remember',
      'note',
      'backups-run-on-sunday',
      'backups run on Sunday',
    ],
  ])('reads %j', (text, ...expected) => {
    expect(read(text)).toEqual([expected])
  })

  it.each([
    'Fix the failing test, please.',
    'Is the port of the api 9090?',
    'Do you remember what the port of the api is?',
    'The port of the api is not known yet.',
    'The cause of the outage is what I am after.',
    'I want you to use tabs.',
    'If the port of the api is 9090, then stop.',
    'remember',
    '',
    `Remember that ${'x'.repeat(600)}`,
    'Remember: !!!',
  ])('passes over %j', (text) => {
    expect(extractStatements(text)).toEqual({ statements: [], withheld: 0 })
  })

  it('keeps no secret, and says how many it left out', () => {
    const text = [
      'The password of the database is hunter2.',
      'Remember that the API key for mail is abc.',
      'Remember: token=abcdefghijklmnop',
      'Remember: postgres://ada:lovelace@db/x is the address',
    ].join('\n')
    expect(extractStatements(text)).toEqual({ statements: [], withheld: 4 })
  })

  it('reads each sentence by itself, with the sentence as evidence', () => {
    const text = 'Hello. The port of the api is 9090. Never use port 80!\nRemember: ask Rita.'
    expect(extractStatements(text).statements.map(({ evidence }) => evidence)).toEqual([
      'The port of the api is 9090.',
      'Never use port 80!',
      'Remember: ask Rita.',
    ])
  })

  it('is sure of nothing, names all that it finds, and takes any text quickly', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'the ',
            'of ',
            'is ',
            'a',
            '-',
            '\n',
            '. ',
            'remember ',
            'we decided to ',
            'é',
            '\u{1f600}',
            ' ',
          ),
        ),
        (parts) => {
          for (const statement of extractStatements(parts.join('')).statements) {
            expect(statement.entity).toMatch(/^[\p{L}\p{N}-]+$/u)
            expect(statement.key).toMatch(/^[\p{L}\p{N}-]+$/u)
            expect(statement.confidence).toBeGreaterThan(0)
            expect(statement.confidence).toBeLessThan(1)
          }
        },
      ),
    )
    const slow = 'the a '.repeat(20_000)
    expect(extractStatements(`${slow}\n${'we prefer '.repeat(49)}`).withheld).toBe(0)
  })
})
