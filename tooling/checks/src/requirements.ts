import { z } from 'zod'

const common = {
  /** Such as `RET-11.2-match-or`. */
  id: z.string().regex(/^[A-Z]+-[\w.]+-[\w.-]+$/),
  area: z.string().min(1),
  /** What is required, in one sentence. */
  summary: z.string().min(10).max(400),
}

/** One required behaviour: covered by a test, or left for later with the reason. */
export const requirementSchema = z.discriminatedUnion('status', [
  z.strictObject({ ...common, status: z.literal('covered'), test: z.string().min(1) }),
  z.strictObject({ ...common, status: z.literal('later'), reason: z.string().min(10) }),
])

/** The whole of `docs/requirements.json`. */
export const requirementsSchema = z.array(requirementSchema).min(1)

/** One entry of `docs/requirements.json`. */
export type Requirement = z.output<typeof requirementSchema>

/**
 * What is wrong with the list, one sentence each: ids that occur twice or out of order, tests that
 * do not exist, and covered ids that their test file does not name.
 *
 * @param readTest - Text of a file by its path from the root; undefined when there is none.
 */
export function findRequirementViolations(
  requirements: readonly Requirement[],
  readTest: (path: string) => string | undefined,
): string[] {
  const seen = new Set<string>()
  return requirements.flatMap((requirement) => {
    const { id } = requirement
    const violations: string[] = []
    if (seen.has(id)) violations.push(`${id}: occurs twice`)
    seen.add(id)
    if (requirement.status === 'covered') {
      const { test } = requirement
      const text = readTest(test)
      if (!/\.test\.ts$/.test(test)) violations.push(`${id}: ${test} is not a test file`)
      else if (text === undefined) violations.push(`${id}: ${test} does not exist`)
      else if (!namesId(text, id)) violations.push(`${id}: ${test} does not name it`)
    }
    return violations
  })
}

// `RET-11.1-expand` must not count as named by `RET-11.1-expand-fields`.
function namesId(text: string, id: string): boolean {
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text.slice(at + id.length, at + id.length + 2)
    if (!/[\w-]/.test(before) && !/^(?:[\w-]|\.\w)/.test(after)) return true
  }
  return false
}
