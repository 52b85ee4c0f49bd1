import { describe, expect, it } from 'vitest'
import { BUDGET_GROUPS, type BudgetGroup } from '../testing/budget-groups.js'
import type { Tool } from './define-tool.js'
import { tools } from './registry.js'

interface Field {
  readonly type?: string
  readonly default?: number
  readonly description?: string
}

const fieldOf = (tool: Tool, name: string): Field | undefined => tool.inputSchema.properties[name]
const listed = tools.flatMap((tool): [string, Tool, BudgetGroup][] => {
  const group = BUDGET_GROUPS[tool.name]
  return group === undefined ? [] : [[tool.name, tool, group]]
})
const namesOf = (group: BudgetGroup['group']): string[] =>
  Object.keys(BUDGET_GROUPS).filter((name) => BUDGET_GROUPS[name]?.group === group)

describe('budgets by group', () => {
  it('are those of 27 tools, of which seven need one and six have a default (MCP-11.11-counts)', () => {
    expect(Object.keys(BUDGET_GROUPS)).toHaveLength(27)
    expect(namesOf('required')).toHaveLength(7)
    expect(namesOf('defaulted')).toHaveLength(6)
  })

  it('are declared by exactly the tools of the groups that exist', () => {
    const declared = tools.filter((tool) => fieldOf(tool, 'token_budget') !== undefined)
    expect(declared.map(({ name }) => name)).toEqual(listed.map(([name]) => name))
    expect(listed.length).toBeGreaterThan(10)
  })

  it.each(listed)('are declared by %s as its group says', (_name, tool, rule) => {
    const field = fieldOf(tool, 'token_budget')
    expect(field).toMatchObject({ type: 'integer', description: expect.any(String) })
    expect(tool.inputSchema.required.includes('token_budget')).toBe(rule.group === 'required')
    if (rule.group === 'defaulted') {
      if (rule.inSchema) expect(field?.default).toBe(rule.tokens)
      else expect(field?.description).toContain(String(rule.tokens))
    }
    const isInSchema = rule.group === 'defaulted' && rule.inSchema
    if (rule.group === 'unused') expect(field?.default).toBe(rule.tokens)
    else if (!isInSchema) expect(field).not.toHaveProperty('default')
  })

  it.each(listed)('of %s come with a cursor where they cut a read', (_name, tool, { group }) => {
    const isCutRead = tool.effect === 'read' && !['required', 'unused'].includes(group)
    expect(fieldOf(tool, 'cursor')?.type).toBe(isCutRead ? 'string' : undefined)
  })

  it.each(listed)(
    'of %s are named where an answer is long, if they bound it',
    (_name, tool, rule) => {
      const bounds = rule.group !== 'unused' && tool.name !== 'memory_forget'
      expect(tool.boundedBy === 'token_budget').toBe(bounds)
      if (tool.boundedBy !== null) expect(fieldOf(tool, tool.boundedBy)?.type).toBe('integer')
    },
  )
})
