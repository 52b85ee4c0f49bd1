/** What one look at one thing came to. */
export interface Finding {
  /** What was looked at, such as `daemon` or `client cursor`. */
  readonly check: string
  /** `problem`: something does not work; `warning`: it works and should be mended; `note`: for information. */
  readonly level: 'ok' | 'note' | 'warning' | 'problem'
  readonly says: string
  /** What to do; undefined when nothing has to be done. */
  readonly fix?: string | undefined
}

/** Findings about one thing. */
export interface Report {
  ok(says: string): Finding
  note(says: string, fix?: string): Finding
  warning(says: string, fix: string): Finding
  problem(says: string, fix: string): Finding
}

/** Make findings about `check`. */
export function reportOn(check: string): Report {
  return {
    ok: (says) => ({ check, level: 'ok', says }),
    note: (says, fix) => ({ check, level: 'note', says, fix }),
    warning: (says, fix) => ({ check, level: 'warning', says, fix }),
    problem: (says, fix) => ({ check, level: 'problem', says, fix }),
  }
}
