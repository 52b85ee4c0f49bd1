import {
  isScored,
  type Outcome,
  REAL_SCENARIOS,
  type Revision,
  reasonOf,
  SUITE,
} from './scenarios.js'

/** Results of one revision. */
export interface RevisionResults {
  readonly revision: Revision
  readonly withFixtures: readonly Outcome[]
  readonly onRealTools: readonly Outcome[]
}

/** `docs/conformance.md`, from what the suite said. */
export function conformancePage(results: readonly RevisionResults[]): string {
  return `# Conformance

Results of the official suite, \`${SUITE}\`, against the daemon with \`CORECRUXD_MCP_PROFILE=full\`.
\`npm run conformance\` builds, runs all of it and compares; \`npm run conformance -- --write\` also writes
this page. It ends with an error when a scored scenario fails, or the page says something else. The suite needs
Node.js 22; \`tooling/e2e/node22\` pins both, and they are installed when they are missing.

Each revision is run twice: with \`CORECRUXD_MCP_CONFORMANCE_FIXTURES=1\`, since most scenarios call tools, resources
and prompts of fixed names, and without, on what is really there. A cell says how many checks pass of how many.
Scenarios that need no fixture must pass in both columns.

${results.map(section).join('\n\n')}
`
}

function section({ revision, withFixtures, onRealTools }: RevisionResults): string {
  const scored = withFixtures.filter(isScored)
  const passed = scored.filter(({ failed }) => failed === 0)
  const real = new Map(onRealTools.map((outcome) => [outcome.scenario, outcome]))
  const rows = withFixtures.map((outcome) => {
    const { scenario, unscored } = outcome
    const without = REAL_SCENARIOS[revision].includes(scenario)
      ? cell(real.get(scenario))
      : 'needs fixtures'
    return `| \`${scenario}\` | ${cell(outcome)} | ${without} | ${noteOf(outcome, unscored)} |`
  })
  return `## ${revision}

${passed.length} of ${scored.length} scored scenarios pass.

| Scenario | with fixtures | without | |
| --- | --- | --- | --- |
${rows.join('\n')}`
}

function noteOf(outcome: Outcome, unscored: string | undefined): string {
  if (unscored === undefined) return ''
  const reason = outcome.failed > 0 ? reasonOf(outcome) : undefined
  return `not scored (${unscored})${reason === undefined ? '' : `: ${reason}`}`
}

function cell(outcome: Outcome | undefined): string {
  if (outcome === undefined) return 'not run'
  const { passed, failed } = outcome
  return passed + failed === 0 ? 'nothing to check' : `${passed} of ${passed + failed}`
}
