import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NODE22_FOLDER } from '../clients/node22.js'
import { conformancePage } from './page.js'
import { findFailures, REVISIONS, readOutcomes, SUITE } from './scenarios.js'

const PRINTED = `
=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 1 failed
✗ tasks-lifecycle: 1 passed, 8 failed
✗ other-thing: 0 passed, 1 failed

Total: 4 passed, 10 failed

Not scored for 2026-07-28: 2 scenario(s) run, 2 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✗ other-thing (pending)
`

describe('the conformance suite', () => {
  it('is installed in the version that the results are about', () => {
    const manifest: unknown = JSON.parse(readFileSync(`${NODE22_FOLDER}/package.json`, 'utf8'))
    const [, name = '', version] = /^(@[^@]+)@(.+)$/.exec(SUITE) ?? []
    expect(manifest).toMatchObject({ dependencies: { [name]: version } })
  })
})

describe('results of the conformance suite', () => {
  it('are read from its summary', () => {
    expect(readOutcomes(PRINTED)).toEqual([
      { scenario: 'ping', passed: 2, failed: 0, unscored: undefined },
      { scenario: 'tools-list', passed: 1, failed: 1, unscored: undefined },
      { scenario: 'tasks-lifecycle', passed: 1, failed: 8, unscored: 'extension' },
      { scenario: 'other-thing', passed: 0, failed: 1, unscored: 'pending' },
    ])
    expect(() => readOutcomes('npm error')).toThrow('npm error')
  })

  it('fail where a scored one fails, an unscored one without a reason, or a real one', () => {
    const outcomes = readOutcomes(PRINTED)
    const failures = findFailures('2026-07-28', outcomes, outcomes)
    expect(failures).toEqual(
      expect.arrayContaining([
        '2026-07-28 tools-list: 1 checks fail',
        '2026-07-28 other-thing: fails, and no reason is given',
        '2026-07-28 tools-list: does not pass without fixtures',
        '2026-07-28 caching: does not pass without fixtures',
      ]),
    )
    expect(failures.join()).not.toContain('tasks-lifecycle')
  })

  it('stand on a page that says the same of every revision', () => {
    const page = readFileSync(new URL('../../../../docs/conformance.md', import.meta.url), 'utf8')
    for (const revision of REVISIONS) expect(page).toContain(`## ${revision}`)
    for (const [, passed, scored] of page.matchAll(/^(\d+) of (\d+) scored scenarios pass/gm)) {
      expect(passed).toBe(scored)
    }
    const outcomes = readOutcomes(PRINTED)
    const written = conformancePage([
      { revision: '2026-07-28', withFixtures: outcomes, onRealTools: outcomes },
    ])
    expect(written).toContain('1 of 2 scored scenarios pass.')
    expect(written).toContain(
      '| `tasks-lifecycle` | 1 of 9 | needs fixtures | not scored (extension): the optional',
    )
  })
})
