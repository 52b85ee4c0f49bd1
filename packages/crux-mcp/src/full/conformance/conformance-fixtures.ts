import type { Offering } from '../offering.js'
import { fixturePrompts, fixtureResources } from './fixture-documents.js'
import { fixtureQuestions } from './fixture-questions.js'
import { type FixtureChanges, fixtureTools, said, tool } from './fixture-tools.js'

/**
 * The fixed names that the official conformance suite calls, in front of what is really there.
 *
 * @param changed - Tells the open streams that a list changed.
 */
export function withConformanceFixtures(offering: Offering, changed: FixtureChanges): Offering {
  let hasMoreTools = false
  let hasMorePrompts = false
  const tools = [
    ...fixtureTools({
      tools() {
        hasMoreTools = !hasMoreTools
        changed.tools()
      },
      prompts() {
        hasMorePrompts = !hasMorePrompts
        changed.prompts()
      },
    }),
    ...fixtureQuestions(),
  ]
  const more = tool('test_tool_that_comes_and_goes', () => said('here'))
  const [simple] = fixturePrompts
  const morePrompts =
    simple === undefined
      ? []
      : [{ ...simple, listed: { ...simple.listed, name: 'test_prompt_that_comes_and_goes' } }]
  return {
    resources: [fixtureResources, ...offering.resources],
    prompts: () => [
      ...fixturePrompts,
      ...(hasMorePrompts ? morePrompts : []),
      ...offering.prompts(),
    ],
    tools: () => [...tools, ...(hasMoreTools ? [more] : []), ...offering.tools()],
  }
}
