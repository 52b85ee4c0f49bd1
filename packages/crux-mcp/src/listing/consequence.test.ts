import { describe, expect, it } from 'vitest'
import { documentedCatalogue } from '../testing/documented-catalogue.js'
import { consequenceOf } from './consequence.js'

const MEMORY_READ = {
  schema: 'crux.tool_consequence_metadata.v1',
  domain: 'memory',
  reversibility: 'reversible_with_compensation',
  materiality: ['local_private_memory'],
  idempotency_class: 'safe',
  blast_radius: 'self_only',
  pro_enricher_available: false,
}

describe('consequenceOf', () => {
  it('tells of every tool of the catalogue what is documented (MCP-11.8-meta-consequence)', () => {
    for (const { name, consequence } of documentedCatalogue()) {
      expect(consequenceOf(name), name).toEqual({ schema: MEMORY_READ.schema, ...consequence })
    }
  })

  it('tells reads of memory from writes and deletions', () => {
    expect(consequenceOf('query_facts')).toEqual(MEMORY_READ)
    expect(consequenceOf('store_fact')).toEqual({
      ...MEMORY_READ,
      idempotency_class: 'requires_key',
    })
    expect(consequenceOf('delete_fact')).toEqual({
      ...MEMORY_READ,
      reversibility: 'irreversible',
      idempotency_class: 'must_not_retry',
    })
  })

  it('calls plain reads reversible, and what it cannot tell unknown', () => {
    expect(consequenceOf('query_scan')).toEqual({
      ...MEMORY_READ,
      domain: 'general',
      reversibility: 'reversible',
      materiality: [],
    })
    expect(consequenceOf('learn')).toMatchObject({
      domain: 'general',
      reversibility: 'unknown',
      idempotency_class: 'unknown',
    })
  })

  it('sees words inside words, as hosts that rely on it do', () => {
    expect(consequenceOf('output_attest').domain).toBe('code')
    expect(consequenceOf('artefact_list').domain).toBe('memory')
    expect(consequenceOf('memory_forget').idempotency_class).toBe('safe')
  })

  it('names what reaches others, money and a way back', () => {
    expect(consequenceOf('send_invoice_email')).toMatchObject({
      domain: 'email_calendar',
      blast_radius: 'external',
      reversibility: 'irreversible',
      idempotency_class: 'must_not_retry',
      materiality: ['creates_external_obligation', 'touches_money', 'touches_pii'],
      pro_enricher_available: true,
    })
    expect(consequenceOf('workspace_update')).toMatchObject({
      blast_radius: 'tenant',
      compensating_tool: 'workspace_update.restore_previous_state',
    })
    expect(consequenceOf('purge_cross_tenant').blast_radius).toBe('cross_tenant')
  })
})
