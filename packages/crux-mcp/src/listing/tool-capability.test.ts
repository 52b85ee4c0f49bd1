import { describe, expect, it } from 'vitest'
import { documentedCatalogue } from '../testing/documented-catalogue.js'
import { capabilityOf, isExtensionTool, isHostedTool } from './tool-capability.js'

describe('capabilityOf', () => {
  it('maps every tool of the catalogue to its capability and backend', () => {
    for (const { name, capability, backend, hosted } of documentedCatalogue()) {
      expect(capabilityOf(name)).toEqual({ tool: name, capability, backend, egress: ['none'] })
      expect(isHostedTool(name)).toBe(hosted)
    }
  })

  it('gives each extension tool a capability of its own', () => {
    expect(capabilityOf('ext.weather.today')).toMatchObject({
      capability: 'crux-extension.ext.weather.today',
      backend: 'local',
    })
  })
})

describe('isExtensionTool', () => {
  it('is a plain test of the start (MCP-11.9-ext-prefix)', () => {
    expect(isExtensionTool('ext.a')).toBe(true)
    for (const name of ['exta', 'EXT.a', 'ext_a', ' ext.a'])
      expect(isExtensionTool(name)).toBe(false)
  })
})
