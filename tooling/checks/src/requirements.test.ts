import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findRequirementViolations, requirementSchema, requirementsSchema } from './requirements.js'
import { workspaceRoot } from './workspace.js'

const covered = (id: string, test = 'a.test.ts') =>
  requirementSchema.parse({ id, area: 'area', summary: 'what it does', status: 'covered', test })

describe('docs/requirements.json', () => {
  it('has the schema, and each covered id is named by its test', () => {
    const root = workspaceRoot()
    const text = readFileSync(join(root, 'docs/requirements.json'), 'utf8')
    const requirements = requirementsSchema.parse(JSON.parse(text))
    const readTest = (path: string): string | undefined =>
      existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined
    expect(findRequirementViolations(requirements, readTest)).toEqual([])
  })
})

describe('findRequirementViolations', () => {
  it('accepts an id at its place', () => {
    const text = "it('does it (RET-11.1-expand). Both RET-11.1-lane, RET-11.1-split')"
    const list = ['RET-11.1-expand', 'RET-11.1-lane', 'RET-11.1-split'].map((id) => covered(id))
    expect(findRequirementViolations(list, () => text)).toEqual([])
  })

  it('refuses an id twice, a test that is missing or silent, and a file that is no test', () => {
    const list = [
      covered('RET-1.1-a'),
      covered('RET-1.1-a'),
      covered('RET-1.1-b', 'gone.test.ts'),
      covered('RET-1.1-c'),
      covered('RET-1.1-d', 'a.ts'),
    ]
    const read = (path: string) =>
      path === 'gone.test.ts' ? undefined : 'RET-1.1-a RET-1.1-c-more RET-1.1-d'
    expect(findRequirementViolations(list, read)).toEqual([
      'RET-1.1-a: occurs twice',
      'RET-1.1-b: gone.test.ts does not exist',
      'RET-1.1-c: a.test.ts does not name it',
      'RET-1.1-d: a.ts is not a test file',
    ])
  })
})

describe('requirementSchema', () => {
  const entry = { id: 'MCP-11.1-x', area: 'listener', summary: 'listens somewhere' }

  it.each([
    { ...entry, status: 'later' },
    { ...entry, status: 'later', reason: 'short' },
    { ...entry, status: 'covered' },
    { ...entry, status: 'covered', test: 'a.test.ts', reason: 'needs no reason' },
    { ...entry, status: 'done', test: 'a.test.ts' },
    { ...entry, id: 'x', status: 'later', reason: 'long enough a reason' },
  ])('refuses %j', (value) => {
    expect(requirementSchema.safeParse(value).success).toBe(false)
  })
})
