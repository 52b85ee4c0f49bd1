/** English words that say little about a topic. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the this that these those such same other another each every both all any some no none',
    'i me my we us our you your he him his she her it its they them their who whom whose which what',
    'am is are was were be been being do does did doing done has have had having',
    'can could may might must shall should will would ought',
    'and or but nor if then else than so as because while until although though whether',
    'of at by for with about against between into through during before after above below to from',
    'up down in out on off over under upon within without among per via',
    'again further once here there when where why how not only own too very just also more most',
    'few much many less least s t d ll m re ve',
  ].flatMap((line) => line.split(' ')),
)
