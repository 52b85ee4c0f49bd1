/**
 * English function words. They tell texts apart too little to be scored, but phrases need them, so
 * they are indexed as they are. The list is a part of the index format: with another list it would
 * be another analyser version. Words that say where or when, such as `along`, `behind` and `may`, are
 * not in it: they often are what a text is about.
 */
const WORDS = `
  a an the
  i me my mine myself we us our ours ourselves you your yours yourself yourselves
  he him his himself she her hers herself it its itself they them their theirs themselves
  this that these those such
  anyone anybody anything everyone everybody everything someone somebody something
  nobody nothing none
  who whom whose which what when where why how whoever whatever whichever whenever wherever however
  am is are was were be been being
  do does did doing done have has had having
  can could shall should will would might must ought cannot
  and or nor but if else because as until while unless although though whereas whether since than so
  yet
  of at by for with between among amongst into onto from to in on
  despite except
  not no all any both each few more most other some same own only very too also just even then there
  here again once ever either neither every much many
`

/** The same, with an apostrophe. */
const CONTRACTIONS = `
  i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll
  he's he'd he'll she's she'd she'll it's it'd it'll they're they've they'd they'll
  that's that'd that'll there's there'd there'll here's who's who'd who'll who've what's what're what'll
  what've where's where'd when's why's how's how'd let's
  isn't aren't wasn't weren't ain't don't doesn't didn't haven't hasn't hadn't
  can't couldn't shan't shouldn't won't wouldn't mayn't mightn't mustn't oughtn't needn't daren't
  could've should've would've might've must've
`

const listed = (words: string): readonly string[] => words.trim().split(/\s+/)

/** Stop words without an apostrophe, single letters a to z among them. */
export const STOP_WORDS: ReadonlySet<string> = new Set([
  ...listed(WORDS),
  ...'abcdefghijklmnopqrstuvwxyz',
])

/** Stop words with an apostrophe. */
export const STOP_CONTRACTIONS: ReadonlySet<string> = new Set(listed(CONTRACTIONS))
