import { describe, expect, it } from 'vitest'
import { findChangesetViolations } from './changesets.js'
import { readPackages, readTextFiles, workspaceRoot } from './workspace.js'

const root = workspaceRoot()
const check = (text: string) =>
  findChangesetViolations({ path: '.changeset/a.md', text }, new Set(['crux-types']))

describe('.changeset', () => {
  it('holds at least one changeset, and each is valid', () => {
    const names = new Set(readPackages(root).map(({ name }) => name))
    const changesets = readTextFiles(root, '.changeset').filter(
      ({ path }) => path.endsWith('.md') && !path.endsWith('/README.md'),
    )
    expect(changesets.length).toBeGreaterThan(0)
    expect(changesets.flatMap((file) => findChangesetViolations(file, names))).toEqual([])
  })
})

describe('findChangesetViolations', () => {
  it('accepts a release with a sentence for the user', () => {
    expect(check("---\n'crux-types': minor\n---\n\nCount tokens of any text.\n")).toEqual([])
  })

  it.each([
    ['Count tokens of any text.', 'has no front matter'],
    ['---\n---\nCount tokens of any text.', 'has no front matter'],
    ['---\n# none\n---\nCount tokens of any text.', 'names no package'],
    ["---\n'crux-other': minor\n---\nCount tokens of any text.", 'crux-other is not a package'],
    ["---\n'crux-types': huge\n---\nCount tokens of any text.", "is 'huge'"],
    ["---\n'crux-types': minor\n---\n", 'says nothing'],
    ["---\n'crux-types': minor\n---\nfix(types): count tokens rightly", 'commit prefix'],
  ])('refuses %j', (text, why) => {
    expect(check(text)[0]).toContain(why)
  })
})
