import { blake3 } from '@noble/hashes/blake3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTENTS, intentBias } from '../intents/intent-table.js'
import { canonicalCbor } from './canonical.js'
import { CAPABILITIES, CAPABILITY_EDGES, TIERS } from './capability-catalogue.js'
import { type GraphRequest, generateGraph, hashGraph } from './capability-graph.js'

const LOCAL: GraphRequest = {
  passport: { tier: 'local', affinities: ['*'], denied_capabilities: null },
  cruxCap: null,
  isServed: () => true,
  schemas: () => ({ input_schema: null, output_schema: null }),
}
const ask = (more: Partial<GraphRequest> = {}, passport: Partial<GraphRequest['passport']> = {}) =>
  generateGraph({ ...LOCAL, ...more, passport: { ...LOCAL.passport, ...passport } })
const caps = ({ nodes }: ReturnType<typeof ask>) => nodes.map(({ cap }) => cap)

describe('the catalogue', () => {
  it('has 24 capabilities and 17 edges between them', () => {
    const names = CAPABILITIES.map(({ cap }) => cap)
    expect(names).toHaveLength(24)
    expect(new Set(names).size).toBe(24)
    expect(CAPABILITY_EDGES).toHaveLength(17)
    for (const { from, to } of CAPABILITY_EDGES) {
      expect(names).toContain(from)
      expect(names).toContain(to)
    }
  })
})

describe('generateGraph', () => {
  it('gives a local passport 14 capabilities and says nothing of the others', () => {
    const graph = ask()
    expect(caps(graph)).toEqual([
      'session_context',
      'journal_append',
      'proof_verify',
      'memory.readable_editable',
      'memory.freshness',
      'trace.source_linked',
      'approval.risk_tiered',
      'trace.typed_actions',
      'output.verifiable_receipts',
      'identity.continuity',
      'memory.scoped_forget',
      'autonomy.contract',
      'audit.byo_trail',
      'output.calm_deferred',
    ])
    expect(graph.excluded).toEqual([])
    expect(graph.edges.map(({ from, to, kind, weight }) => [from, to, kind, weight])).toEqual([
      ['output.verifiable_receipts', 'proof_verify', 'produces_input_for', 85],
      ['memory.readable_editable', 'memory.freshness', 'composes_with', 70],
      ['memory.scoped_forget', 'memory.readable_editable', 'composes_with', 65],
      ['trace.source_linked', 'trace.typed_actions', 'composes_with', 70],
      ['approval.risk_tiered', 'autonomy.contract', 'composes_with', 60],
      ['identity.continuity', 'autonomy.contract', 'composes_with', 55],
      ['output.calm_deferred', 'output.verifiable_receipts', 'composes_with', 60],
      ['audit.byo_trail', 'trace.typed_actions', 'composes_with', 65],
    ])
  })

  it('describes a capability', () => {
    const [context, journal] = ask().nodes
    expect(context).toEqual({
      cap: 'session_context',
      category: 'public',
      prefer: 'bulk',
      shape: 'Snapshot',
      input_schema: null,
      output_schema: null,
      min_tier: null,
      required_affinity: null,
      cost_class: 'free',
      cost_estimate: null,
      stability: 'stable',
      since: '1.0.0',
      sunset_at: null,
      model_policy: null,
      attestations: [],
      concurrency: null,
      impl_path: { ce: 'session_ctx_local', core: '/v2/session/context' },
    })
    expect(journal).toMatchObject({
      category: 'affinity_required',
      prefer: 'mcp',
      required_affinity: 'journal',
    })
    expect(ask({ preferBulk: false }).nodes[0]?.prefer).toBe('mcp')
  })

  it('leaves out what is not served, with its edges', () => {
    const graph = ask({ isServed: (cap) => cap.startsWith('memory.') })
    expect(caps(graph)).toEqual([
      'memory.readable_editable',
      'memory.freshness',
      'memory.scoped_forget',
    ])
    expect(graph.edges).toHaveLength(2)
  })

  it('says why a passport without the wildcard lacks something', () => {
    const of = { tier: 'starter', affinities: ['audit', 'proof', 'retrieval'] }
    expect(ask({ isServed: (cap) => cap !== 'audit.byo_trail' }, of).excluded).toEqual([
      {
        cap: 'audit_replay',
        reason: 'tier_insufficient',
        layer: 'passport',
        hint: 'requires `pro` tier or higher',
      },
      {
        cap: 'get_counterfactual_summary',
        reason: 'tier_insufficient',
        layer: 'passport',
        hint: 'requires `pro` tier or higher',
      },
      { cap: 'audit.byo_trail', reason: 'feature_disabled', layer: 'platform', hint: null },
    ])
    expect(
      ask({ cruxCap: 4 }, { ...of, denied_capabilities: ['proof_verify'] }).excluded,
    ).toContainEqual({
      cap: 'proof_verify',
      reason: 'passport_denied',
      layer: 'passport',
      hint: null,
    })
    expect(ask({ cruxCap: 4 }, of).excluded).toContainEqual({
      cap: 'proof_document',
      reason: 'budget_exhausted',
      layer: 'passport',
      hint: 'session budget too low for a heavy capability',
    })
    expect(caps(ask({ cruxCap: 5 }, of))).toContain('proof_document')
    expect(ask({ hideExclusions: true }, of).excluded).toEqual([])
    // Two ranks below, and a tier that does not exist: nothing is said.
    expect(ask({}, { ...of, tier: 'free' }).excluded.map(({ cap }) => cap)).toEqual([
      'proof_document',
    ])
    expect(ask({}, { ...of, tier: 'gold' }).excluded).toEqual([])
    expect(caps(ask({}, { tier: 'local', affinities: [] }))).toEqual(['session_context'])
  })

  it('puts first what an intent favours, and cuts only where there is one', () => {
    const everything = { tier: 'enterprise' }
    const all = ask({}, everything)
    expect(caps(all)).toHaveLength(24)
    expect(caps(ask({ intent: 'audit_review' }, everything)).slice(0, 6)).toEqual([
      'audit_replay',
      'get_counterfactual_summary',
      'audit.byo_trail',
      'proof_document',
      'proof_verify',
      'retrieve',
    ])
    expect(ask({ intent: 'session_review', maxCapabilities: 2 }, everything).nodes).toHaveLength(2)
    expect(ask({ intent: 'session_review', maxCapabilities: 0 }, everything).nodes).toEqual([])
    expect(ask({ intent: 'other', maxCapabilities: 2 }, everything)).toEqual(all)
    expect(ask({ maxCapabilities: 2 }, everything)).toEqual(all)
  })

  it('keeps the order of the catalogue among equals, and only edges within', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TIERS, 'gold'),
        fc.subarray(['*', ...new Set(CAPABILITIES.map(({ affinity }) => affinity))]),
        fc.subarray(CAPABILITIES.map(({ cap }) => cap)),
        fc.constantFrom(undefined, 'other', ...Object.keys(INTENTS)),
        (tier, affinities, denied, intent) => {
          const graph = ask(intent === undefined ? {} : { intent }, {
            tier,
            affinities,
            denied_capabilities: denied,
          })
          const names = caps(graph)
          for (const { from, to } of graph.edges) {
            expect(names).toContain(from)
            expect(names).toContain(to)
          }
          for (const cap of denied) expect(names).not.toContain(cap)
          const rank = (cap: string) => {
            const index = CAPABILITIES.findIndex((entry) => entry.cap === cap)
            return index - 1000 * intentBias(intent, CAPABILITIES[index]?.affinity ?? '')
          }
          expect(names).toEqual([...names].sort((a, b) => rank(a) - rank(b)))
        },
      ),
    )
  })
})

describe('hashGraph', () => {
  it('covers what is there, in order, and where it is served', () => {
    const { nodes } = ask({ isServed: (cap) => cap === 'journal_append' })
    expect(hashGraph(nodes, null)).toEqual(
      blake3(
        canonicalCbor({
          intent: null,
          caps: [
            {
              cap: 'journal_append',
              prefer: 'mcp',
              shape: 'Receipt',
              min_tier: null,
              cost_class: 'free',
              impl_path: { ce: 'journal_local', core: '/mcp/vault#journal_append' },
            },
          ],
        }),
      ),
    )
    const all = ask().nodes
    expect(hashGraph(all, null)).toEqual(hashGraph(ask().nodes, null))
    expect(hashGraph(all.toReversed(), null)).not.toEqual(hashGraph(all, null))
    expect(hashGraph(all, 'audit_review')).not.toEqual(hashGraph(all, null))
  })
})
