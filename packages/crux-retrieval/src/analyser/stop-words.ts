/**
 * English function words. They tell texts apart too little to be scored, but phrases need them, so
 * they are indexed as they are. The list is a part of the index format: with another list it would
 * be another analyser version.
 */
const WORDS = `
  a an the
  i me my mine myself we us our ours ourselves you your yours yourself yourselves
  he him his himself she her hers herself it its itself they them their theirs themselves
  this that these those such
  who whom whose which what when where why how whoever whatever whichever whenever wherever however
  am is are was were be been being
  do does did doing done have has had having
  can could shall should will would may might must ought cannot
  and or nor but if else because as until while unless although though whereas whether since than so
  yet
  of at by for with without within about against between among amongst into onto upon through
  throughout during before after above below to from up down in out on off over under toward towards
  across along around behind beside besides beyond despite except near per via
  not no all any both each few more most other some same own only very too also just even then there
  here again further once ever either neither every much many
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
