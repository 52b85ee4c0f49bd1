import { describe, expect, it } from 'vitest'
import { TokenAccounts } from './token-accounts.js'

describe('TokenAccounts', () => {
  it('add up by passport (RET-11.13-acct-fields)', () => {
    const accounts = new TokenAccounts()
    for (let i = 0; i < 3; i++) {
      accounts.add('anna', { tokensIn: 10, tokensOut: 20, declaredBudget: 100 })
    }
    accounts.add('bob', { tokensIn: 1, tokensOut: 2 })
    expect(accounts.usage('anna')).toEqual({
      calls: 3,
      tokensIn: 30,
      tokensOut: 60,
      declaredBudgetIn: 300,
    })
    expect(accounts.used('anna')).toBe(90)
    expect(accounts.usage('bob')).toEqual({
      calls: 1,
      tokensIn: 1,
      tokensOut: 2,
      declaredBudgetIn: 0,
    })
    expect(accounts.used('nobody')).toBe(0)
  })

  it('stop at the largest exact integer', () => {
    const accounts = new TokenAccounts()
    const most = Number.MAX_SAFE_INTEGER
    accounts.add('a', { tokensIn: most, tokensOut: most, declaredBudget: most })
    accounts.add('a', { tokensIn: 5, tokensOut: 5, declaredBudget: 5 })
    expect(accounts.usage('a')).toEqual({
      calls: 2,
      tokensIn: most,
      tokensOut: most,
      declaredBudgetIn: most,
    })
    expect(accounts.used('a')).toBe(most)
  })

  it('hold at most 10,000 passports, the first one gives way', () => {
    const accounts = new TokenAccounts()
    for (let i = 0; i <= 10_000; i++) accounts.add(`p${i}`, { tokensIn: 1, tokensOut: 1 })
    expect(accounts.used('p0')).toBe(0)
    expect(accounts.used('p1')).toBe(2)
    expect(accounts.used('p10000')).toBe(2)
  })
})
