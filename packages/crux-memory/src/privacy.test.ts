import { ANONYMOUS, agentCaller } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { createPrivacyPolicy, ownersOf, splitPrivateEntity, visibleEntity } from './privacy.js'

describe('createPrivacyPolicy', () => {
  const policy = createPrivacyPolicy()
  it.each([
    '__agent::anna::x',
    '__bootstrap__::doc:x',
    '__ops::x',
    '__ops__::x',
    'decisions::x',
    'github::x',
    '__infra__::x',
    'console:page:x',
    '__workspace_scan__::x',
    '__memory_pin::anna::f',
  ])('makes %s private', (entity) => {
    expect(policy.forcedBy(entity)).toBeDefined()
  })

  it.each([
    'service:api',
    '__decisions__::x',
    'decisions:x',
    'console:other',
    '__unknown__::x',
    '',
  ])('leaves %j free', (entity) => {
    expect(policy.forcedBy(entity)).toBeUndefined()
  })

  it('adds and shares prefixes', () => {
    const own = createPrivacyPolicy({
      alwaysPrivate: ['secret:', ''],
      share: ['decisions::', 'secret:open:'],
    })
    expect(own.forcedBy('secret:x')).toBe('secret:')
    expect(own.forcedBy('secret:open:x')).toBeUndefined()
    expect(own.forcedBy('decisions::x')).toBeUndefined()
    expect(own.forcedBy('free')).toBeUndefined()
  })

  it("never shares the daemon's records or agents' private facts", () => {
    const own = createPrivacyPolicy({
      share: ['__ops::', '__agent::', '__agent::anna::', '', '_', 'd'],
    })
    for (const entity of ['__ops::x', '__agent::anna::x', 'decisions::x', '__infra__::x']) {
      expect(own.forcedBy(entity)).toBeDefined()
    }
  })
})

describe('splitPrivateEntity', () => {
  it.each([
    ['__agent::anna::notes', { owner: 'anna', entity: 'notes' }],
    ['__agent::anna::a::b', { owner: 'anna', entity: 'a::b' }],
    ['__agent::anna::', { owner: 'anna', entity: '' }],
    ['__agent::anna:::x', { owner: 'anna', entity: ':x' }],
    ['__agent::anna', undefined],
    ['__agent:anna::x', undefined],
    ['notes', undefined],
  ])('splits %j', (entity, expected) => {
    expect(splitPrivateEntity(entity)).toEqual(expected)
  })
})

describe('visibleEntity', () => {
  const owners = ownersOf({ ...agentCaller('anna'), identity: 'pass', aliases: ['anna', 'pass'] })
  it('names identity and aliases as owners, each once', () => {
    expect(owners).toEqual(['pass', 'anna'])
    expect(ownersOf(ANONYMOUS)).toEqual([])
  })

  it.each([
    ['__agent::pass::x', true, 'x'],
    ['__agent::anna::x', true, 'x'],
    ['__agent::bert::x', true, undefined],
    ['__agent::bert::x', false, undefined],
    ['__agent::pass', true, undefined],
    ['x', false, 'x'],
    ['x', true, undefined],
  ])('shows %s (private %s) as %s', (entity, isPrivate, expected) => {
    expect(visibleEntity(owners, entity, isPrivate)).toBe(expected)
  })
})
