import { describe, expect, it } from 'vitest'
import { findTextViolations } from './text-rules.js'
import { readTextFiles, workspaceRoot } from './workspace.js'

const check = (text: string) => findTextViolations({ path: 'a.md', text })

// Put together from parts: this file is checked as well.
const host = ['registry.', 'npm', 'js.org'].join('')
const path = ['/wo', 'rk/main'].join('')
const issue = ['issue', '12'].join(' ')

describe('texts of the workspace', () => {
  it('name no registry host, machine path or issue number', () => {
    const files = readTextFiles(workspaceRoot())
    expect(files.map((file) => file.path)).toContain('package.json')
    expect(files.flatMap((file) => findTextViolations(file))).toEqual([])
  })
})

describe('findTextViolations', () => {
  it.each([
    [`see https://${host}/zod`, `a.md:1: holds a registry host name: ${host}`],
    [`\ncd ${path}`, `a.md:2: holds a path of one machine: ${path.slice(0, 6)}`],
    [`as ${issue} asks`, `a.md:1: holds an issue number: ${issue}`],
    [`mend (${'#'}41)`, `a.md:1: holds an issue number: ${'#'}41`],
  ])('finds %j', (text, expected) => {
    expect(check(text)).toEqual([expected])
  })

  it.each([
    'npm start, npm test and npx pnpm install',
    'network/work/a, ~/work/b, ./work/c',
    'an issue of 3 kinds; RFC 9457; colour #ffffff; section 3',
    '# 1. Heading',
  ])('accepts %j', (text) => {
    expect(check(text)).toEqual([])
  })
})
