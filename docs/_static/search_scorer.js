// Pages before names: a reader who types 'threshold' wants the page that explains it, then the API, and studies last.
var Scorer = {
  objNameMatch: 6,
  objPartialMatch: 3,
  objPrio: {0: 4, 1: 2, 2: -5},
  objPrioDefault: 0,
  title: 25,
  partialTitle: 12,
  term: 6,
  partialTerm: 2,
  score: ([page, , anchor, , score]) => {
    if (page.startsWith("reference/")) return score - 12;
    if (page.startsWith("gallery/")) return score - 4;
    const aside = ["study", "reproductions", "paper_slips", "reliability", "architecture", "performance", "capacity", "undefined"];
    const first = ["start", "method", "tuning", "evaluate"];
    return score + (aside.includes(page) ? -10 : first.includes(page) ? 6 : 3) - (anchor ? 1 : 0);
  },
};
