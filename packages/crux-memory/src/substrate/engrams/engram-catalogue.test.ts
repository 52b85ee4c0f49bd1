import { blake3 } from '@noble/hashes/blake3.js'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openFactStore } from '../../open-fact-store.js'
import { capabilityClassOf } from './engram.js'
import { createEngramCatalogue } from './engram-catalogue.js'

const hashes = {
  blake3Stream() {
    const hash = blake3.create()
    return {
      update: (bytes: Uint8Array) => void hash.update(bytes),
      digest: () => hash.digest(),
    }
  },
}
const hashOf = (text: string): string =>
  `blake3:${Buffer.from(blake3(Buffer.from(text))).toString('hex')}`

async function open() {
  const facts = await openFactStore({
    journal: createMemoryJournal(),
    clock: new ManualClock(Date.UTC(2026, 0, 15)),
  })
  const store = (engram: object, key = 'x', caller = ANONYMOUS) =>
    facts.store(caller, { entity: '__engram__::mine', key, value: JSON.stringify(engram) })
  return { facts, store, catalogue: createEngramCatalogue({ facts, hashes }) }
}

const local = { tenantLabel: 'local' }
const extra = { name: 'extra', version: 'v1', intent_bucket: 'a', content: 'Do it.' }

describe('createEngramCatalogue', () => {
  it('describes the built-in engrams by bucket and name, without their content', async () => {
    const { catalogue } = await open()
    const manifest = await catalogue.manifest(ANONYMOUS, local)
    expect(manifest.engrams.map(({ name, version }) => `${name}@${version}`)).toEqual([
      'aggregation-session-expansion@v1',
      'code-minimalism@v1',
      'route-impact-preflight@v1',
      'local-investigation-rhythm@v1',
    ])
    const { manifest_hash, engrams, ...body } = manifest
    expect(body).toEqual({
      schema: 'crux.local.engram_manifest.v1',
      tenant_id: 'local',
      capability_class: 'capable',
    })
    expect(manifest_hash).toBe(hashOf(JSON.stringify({ ...body, engrams })))
    expect(JSON.stringify(manifest)).not.toContain('reuse_check')
  })

  it('gives content with hashes that tell of every change', async () => {
    const { catalogue, store } = await open()
    const names = ['code-minimalism@v1', 'local-investigation-rhythm@v1']
    const found = await catalogue.resolve(ANONYMOUS, names, local)
    expect(found.engrams.map(({ name }) => name)).toEqual([
      'code-minimalism',
      'local-investigation-rhythm',
    ])
    for (const { content, prompt_hash } of found.engrams) {
      expect(content.length).toBeGreaterThan(200)
      expect(prompt_hash).toBe(hashOf(content))
    }
    expect(found.engram_set_hash.count).toBe(2)
    expect(found.manifest_hash).toBe((await catalogue.manifest(ANONYMOUS, local)).manifest_hash)
    await store({ ...extra, name: 'code-minimalism', intent_bucket: 'developer_surface' })
    const replaced = await catalogue.resolve(ANONYMOUS, names, local)
    expect(replaced.engrams[0]?.content).toBe('Do it.')
    expect(replaced.engram_set_hash.hash).not.toBe(found.engram_set_hash.hash)
    expect(replaced.manifest_hash).not.toBe(found.manifest_hash)
  })

  it('takes the newest version of what the tenant stored, and nothing of another tenant', async () => {
    const { catalogue, store } = await open()
    await store({ ...extra, content: 'old' })
    await store({ ...extra, content: 'new' })
    await store({ name: 'broken' }, 'broken')
    const acme = { ...ANONYMOUS, tenant: 'acme' }
    await store({ ...extra, content: 'theirs' }, 'x', acme)
    const contentFor = async (caller: typeof ANONYMOUS) =>
      (await catalogue.resolve(caller, ['extra@v1'], local)).engrams[0]?.content
    expect(await contentFor(ANONYMOUS)).toBe('new')
    expect(await contentFor(acme)).toBe('theirs')
    const other = { ...ANONYMOUS, tenant: 'other' }
    await expect(contentFor(other)).rejects.toMatchObject({ code: 'ENGRAMS_UNAVAILABLE' })
    const { engrams } = await catalogue.manifest(ANONYMOUS, { ...local, intentBucket: 'a' })
    expect(engrams.map(({ name }) => name)).toEqual(['extra'])
  })

  it("leaves an agent's private facts alone", async () => {
    const { catalogue, facts } = await open()
    await facts.store(agentCaller('anna'), {
      entity: '__engram__::mine',
      key: 'x',
      value: JSON.stringify(extra),
      private: true,
    })
    const { engrams } = await catalogue.manifest(agentCaller('anna'), local)
    expect(engrams.map(({ name }) => name)).not.toContain('extra')
  })

  it('names all that are missing, malformed, off or for another class of model', async () => {
    const { catalogue, store } = await open()
    await store({ ...extra, name: 'a@b', enabled: false }, 'off')
    await store({ ...extra, name: 'big', capability_class_min: 'frontier' }, 'big')
    await store({ ...extra, name: 'small', capability_class_max: 'fast' }, 'small')
    await store({ ...extra, name: 'at@sign' }, 'at')
    const names = ['code-minimalism@v1', 'nope@v1', 'code-minimalism', '@v1', 'a@b@v1', 'big@v1']
    await expect(catalogue.resolve(ANONYMOUS, names, local)).rejects.toMatchObject({
      code: 'ENGRAMS_UNAVAILABLE',
      message:
        'capability_class_mismatch_or_missing: nope@v1, code-minimalism, @v1, a@b@v1, big@v1',
      data: { capability_class: 'capable' },
    })
    const offered = async (modelId: string) => {
      const manifest = await catalogue.manifest(ANONYMOUS, {
        ...local,
        modelId,
        intentBucket: 'a',
      })
      return [manifest.capability_class, manifest.engrams.map(({ name }) => name)]
    }
    expect(await offered('Some-Haiku')).toEqual(['fast', ['at@sign', 'small']])
    expect(await offered('some-opus')).toEqual(['frontier', ['at@sign', 'big']])
    const at = await catalogue.resolve(ANONYMOUS, ['at@sign@v1'], local)
    expect(at.engrams[0]?.name).toBe('at@sign')
  })
})

describe('capabilityClassOf', () => {
  it.each([
    [undefined, 'capable'],
    ['', 'capable'],
    ['model-x', 'capable'],
    ['gpt-4o-MINI', 'fast'],
    ['gemini-flash', 'fast'],
    ['claude-opus-9', 'frontier'],
    ['gpt-5.5', 'frontier'],
    ['frontier-mini', 'fast'],
  ])('reads %s as %s', (modelId, expected) => {
    expect(capabilityClassOf(modelId)).toBe(expected)
  })
})
