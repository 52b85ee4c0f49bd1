/** The official suite, pinned to what the results are about. */
export const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'

/** Revisions whose requirements are run. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

/** Scenarios that call nothing by a fixed name: they must pass without fixtures, on the real tools. */
export const REAL_SCENARIOS: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'logging-set-level',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'resources-subscribe',
    'resources-unsubscribe',
    'prompts-list',
    'dns-rebinding-protection',
    'server-session-lifecycle',
  ],
  '2026-07-28': [
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'input-required-result-unsupported-methods',
  ],
}

/** Why an unscored scenario is not passed. */
export const NOT_PASSED: Readonly<Record<string, string>> = {
  tasks:
    'the optional extension `io.modelcontextprotocol/tasks` is not served: no tool runs longer than a request may',
}

/** What came of one scenario. */
export interface Outcome {
  readonly scenario: string
  readonly passed: number
  readonly failed: number
  /** Why the suite does not score it; undefined when it does. */
  readonly unscored: string | undefined
}

/**
 * Read the summary that the suite prints.
 *
 * @throws {Error} When there is none, with the end of what was printed.
 */
export function readOutcomes(printed: string): readonly Outcome[] {
  const [, summary] = printed.split('=== SUMMARY ===')
  if (summary === undefined) {
    throw new Error(`the suite printed no summary:\n${printed.slice(-2000)}`)
  }
  const [scored = '', unscored = ''] = summary.split('Not scored for')
  const reasons = new Map(
    [...unscored.matchAll(/^\s+\S ([\w-]+) \(([\w-]+)\)$/gm)].map(([, name = '', why = '']) => [
      name,
      why,
    ]),
  )
  return [...scored.matchAll(/^\S ([\w-]+): (\d+) passed, (\d+) failed/gm)].map(
    ([, scenario = '', passed, failed]) => ({
      scenario,
      passed: Number(passed),
      failed: Number(failed),
      unscored: reasons.get(scenario),
    }),
  )
}

/** Whether the suite counts it for the revision. */
export function isScored({ unscored }: Outcome): boolean {
  return unscored === undefined
}

/** One sentence for each result that is not as it must be. */
export function findFailures(
  revision: Revision,
  withFixtures: readonly Outcome[],
  onRealTools: readonly Outcome[],
): readonly string[] {
  const failedOf = (outcomes: readonly Outcome[], name: string) =>
    outcomes.find(({ scenario }) => scenario === name)?.failed
  return [
    ...withFixtures
      .filter((outcome) => isScored(outcome) && outcome.failed > 0)
      .map(({ scenario, failed }) => `${revision} ${scenario}: ${failed} checks fail`),
    ...withFixtures
      .filter((outcome) => outcome.failed > 0 && outcome.unscored && !reasonOf(outcome))
      .map(({ scenario }) => `${revision} ${scenario}: fails, and no reason is given`),
    ...REAL_SCENARIOS[revision]
      .filter((name) => failedOf(onRealTools, name) !== 0)
      .map((name) => `${revision} ${name}: does not pass without fixtures`),
  ]
}

/** Why an unscored scenario is not passed; undefined when no reason is known. */
export function reasonOf({ scenario }: Outcome): string | undefined {
  return Object.entries(NOT_PASSED).find(([start]) => scenario.startsWith(`${start}-`))?.[1]
}
