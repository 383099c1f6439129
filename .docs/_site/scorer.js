// Guides come before all others of their kind, the reference and the changelog after all.
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (/^(howto|tutorial)\//.test(page)) return score + 20;
    if (/^(api\/|changelog|verification)/.test(page)) return score - 20;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
