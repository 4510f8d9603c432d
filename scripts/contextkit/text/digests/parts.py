"""The part that a statement of prose plays, judging by its words in the languages of reports.

Somebody who acts on minutes, a chat or a mail needs decisions and prohibitions first, then the
cause, the fix, who does what by when, and what is open. Small talk comes last.
"""

from __future__ import annotations

import functools
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterable
from contextkit.text.digests.reading import Unit

DECIDED, BARRED, CAUSE, ABOUT, MENDED, DUE, OPEN = range(2, 9)  # in the order of telling
ASIDE, NONE = 0, 9
_MOST = (0, 0, 3, 4, 2, 2, 3, 5, 2)  # statements of each part that come first
_WEIGHTS = (1.0, 1.0, 16.0, 16.0, 8.0, 8.0, 6.0, 5.0, 5.0)  # of each part

_MONTH = (
    r"(?:jan|ene|gen|янв|feb|fév|fev|lut|фев|m[aä]r|mrt|мар|a[pbv]r|kwi|апр|ma[iyj]|mag|ма[йя]"
    r"|jun|juin|giu|cze|июн|jul|juil|lug|lip|июл|aug|ao[uû]|ago|sie|авг|se[pt]|wrz|сен"
    r"|o[ckt]t|paź|окт|no[vw]|lis|ноя|de[cz]|dic|gru|дек)\w*"
)
_DAY = Pattern(
    rf"\b(?:\d{{1,2}}(?:\.|st|nd|rd|th|er|º)? (?:de |of )?{_MONTH}|{_MONTH} \d{{1,2}}\b"
    r"|the \d{1,2}(?:st|nd|rd|th)\b|\d{4}-\d\d-\d\d\b|\d{1,2}\.\d{1,2}\."
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:mon|diens|donners|frei|sams)tag\b"
    r"|(?:lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi)\b)"
    r"|\d(?:月|日|월)"
)
_WORDS = {
    OPEN: r"\b(?:open(?:\b(?! the)|staand)|pending|unclear|undecided|unresolved|tbd|to be decided"
    r"|needs? an? (?:decision|owner)|no answer|still (?:missing|waiting)|offen\w*|ungeklärt"
    r"|steht\b.* aus|unklar|(?<!darf )(?<!dürfen )noch nicht"
    r"|pendientes?|sin responsable|sin decidir|por decidir|abierto"
    r"|pendências?|em aberto|à décider|en suspens|en attente|personne n'est|reste à|in sospeso"
    r"|da decidere|öppn?a|oklart|otwart\w+|do ustalenia|не решен\w*|открыт\w*|belirsiz|açık)\b"
    r"|待定|未定|未決|未解決|未解决|미정|미해결|معلق|लंबित",
    BARRED: r"\b(?:(?:^|(?<=[.,:;—–(!] )|(?:please|so|and|but|or|then) )(?:do not|don'?t|never)\b"
    r"|(?:must|may|should|shall|can) ?not\b.* (?:be|\w+ed)\b|mustn't|(?:you|please) (?:must"
    r" |should )?(?:not|never|don't)\b|nobody (?!(?:could|did|can|would|said|knew)\b)\w+(?<!s)"
    r"(?<!ed) |(?:nobody \w+s\b.* (?:until|before|unless)|until\b.* nobody \w+s)\b"
    r"|(?:forbidden|not allowed|prohibited|off limits)\b|must not\b"
    r"|(?:darf|dürfen|soll(?:en)?|bitte)\b.* (?:nicht|nie\w*|keine?\w*)\b"
    r"|(?:keinesfalls|auf keinen fall|niemals|verboten|untersagt)\b"
    r"|(?:no|tampoco|nunca) (?:se )?(?:deb\w+|puede\w*)|^(?:nunca|jamás)\b|prohibid\w+\b"
    r"|no hay que\b|(?:il ne faut|ne (?:doit|doivent|devez|devons))\b.* (?:pas|jamais|plus)\b"
    r"|^n(?:e |')\w+.* (?:pas|jamais|plus)\b|(?:interdit\w*|à ne pas faire|ne pas \w+er)\b"
    r"|(?:não|nunca) (?:se )?(?:dev\w+|pode\w*)|proibid\w+|^(?:jamais\b|não \w+)"
    r"|non (?:si )?dev\w+|^non \w+[aei]re\b|vietat\w+|(?:mag|mogen) (?:niet|geen)\b"
    r"|nooit\b|(?:får|ska) (?:inte|aldrig)\b|förbjud\w+|nie (?:wolno|należy|można)\b"
    r"|nigdy\b|(?:нельзя|запрещ\w+|никогда|не (?:надо|нужно|следует|\w+йте))\b"
    r"|(?:asla|yasak\w*)\b"
    r"|not\b.* (?:before|until|unless)\b|(?:nicht|keine?\w?)\b.* (?:bevor|bis|solange|ehe)\b"
    r"|(?:no|não|non)\b.* (?:hasta|mientras|antes de|até|enquanto|finché|prima)\b"
    r"|n(?:e |').* (?:tant que|avant)\b|(?:niet|geen)\b.* (?:voordat|totdat|tenzij)\b"
    r"|inte\b.* (?:förrän|innan)\b|nie\b.* (?:dopóki|zanim)\b|не\b.* пока\b)"
    r"|m[ae]mal[ıi]|m[ae]y[ıi]n\b"
    r"|不要|不得|禁止|切勿|请勿|不可|してはいけ|しないで|ないこと|はならない|하지 ?마|하면 안|금지"
    r"|لا يجوز|ممنوع|يجب عدم|न करें|नहीं करना|मत ",
    DECIDED: r"\b(?:decision|decided|agreed|resolution|we(?:'ll| will)? go(?:ing)? with"
    r"|let's go with|we stay|plan:|forget what|scrap that|take it back|changed (?:his|her|my"
    r"|our|their) mind|besch(?:luss|lossen|ließ\w*|lüsse)|entscheidung|entschieden|vereinbart"
    r"|wir (?:nehmen|bleiben|machen)|doch nicht|decisión|decidi\w+|acuerdos?|acord\w+|decisão"
    r"|décision|décid\w+|convenu\w*|finalement|decisione|deciso|concordato|besluit\w*|besloten"
    r"|afgesproken|beslut\w*|bestäm\w+|decyzj\w+|postanowi\w+|uzgodni\w+|решени[ея]|решил\w*"
    r"|решено|договорил\w*|постановил\w*|karar\w*)\b|决定|決定|決まり|결정|قرار|اتفقنا|निर्णय|फैसला",
    CAUSE: r"\b(?:cause[sd]?|because|turn(?:s|ed) out|due to|reason|not the|it (?:is|was) not"
    r"|ursache\w*|auslöser|weil|lag an|stellte sich heraus|wegen|causas?|debi(?:do|eron|ó) a?"
    r"|porque|resultó|no fue|parce que|en raison|en cause|ce n'était pas|não foi|perché|non era"
    r"|oorzaak|omdat|bleek|orsak\w*|eftersom|berodde|przyczyn\w+|ponieważ|причин\w+|из-за"
    r"|потому|оказал\w+|это не|neden\w*|çünkü|yüzünden|değildi)\b"
    r"|原因|由于|因为|ため|ではな|원인|때문|아니라|السبب|بسبب|कारण|वजह",
    MENDED: r"\b(?:fix(?:ed|es)?|hotfix|patch(?:ed)?|solved|resolved|workaround|pinned|reverted"
    r"|rolled back|behoben|gelöst|korrigiert|eingebaut|solucion\w+|corregi\w+|resuelt\w+|corrig\w+"
    r"|résolu\w*|correctif|installée?|risolt\w+|corrett\w+|opgelost|åtgärda\w+|naprawi\w+"
    r"|исправ\w+|устран\w+|düzelt\w+|çözü\w+)\b|修复|解决|修正|対応|수정|해결|إصلاح|ठीक किया",
}
_TITLES = {  # of sections, or in front of a paragraph
    BARRED: r"\bto watch\b|watch out|caution|caveat|achtung|vorsicht|atención|cuidado"
    r"|important|wichtig|belangrijk|viktigt|ważne|важно|重要|중요|هام",
    DECIDED: r"^(?:new |neuer |nuev[ao] |nouvelle )?(?:cutover|deadline|frist|termin|go-live"
    r"|plazo|fecha|échéance|scadenza|prazo)\b",
    MENDED: r"ce qui a été fait|what we did|maßnahmen|workaround",
    DUE: r"actions?\b|action items|to-?do|next steps|aufgaben|nächste schritte|acciones|tareas"
    r"|próximos pasos|suites|prochaines|à faire|azioni|acties|actiepunten|åtgärder|zadania|ações"
    r"|задачи|поручения|行动|待办|アクション|宿題|할 일|المهام|कार्य|yapılacak",
    OPEN: r"questions?\b|fragen|preguntas|domande|vragen|frågor|pytania|вопросы|問題|问题",
    ABOUT: r"summary|what happened|impact|zusammenfassung|kurzfassung|was (?:ist )?passiert|resumen"
    r"|qué pasó|résumé|ce qui s'est passé|resumo|sommario|riassunto|samenvatting|sammanfattning"
    r"|podsumowanie|резюме|итог|摘要|概要|요약|ملخص|सारांश|özet",
}
_BY_WORDS = {part: Pattern(source) for part, source in _WORDS.items()}
_BY_TITLE = {
    part: Pattern(rf"(?:{_TITLES[part]})" if part not in _WORDS else
                  rf"(?:{_TITLES.get(part, 'a^')})|{_WORDS[part]}")
    for part in (*_WORDS, DUE, ABOUT)
}  # fmt: skip
_DUE = Pattern(
    r"\b(?:by|until|due|deadline|cutover|go-live|rather than|will|i'll|we'll|shall|at the latest"
    r"|owns?|bis|spätestens|frist|termin|wird|werden|vence|antes|hasta|para el|plazo|avant|pour le"
    r"|échéance|d'ici|entro|prima|scadenza|até|prazo|vóór|uiterlijk|senast|före|termin\w*|до|срок"
    r"|kadar)\b|截止|之前|までに|期限|까지|마감|قبل|तक"
)


_DESCRIBING = Pattern(  # a heading below which "must not" says how something is
    r"[\W\d]*(?:background|context|introduction|overview|history|how .* works?|prior art"
    r"|related work|hintergrund|kontext|einleitung|überblick|ausgangslage|antecedentes|contexto"
    r"|introducción|contexte|introduction|contesto|introduzione|achtergrond|bakgrund|tło|контекст"
    r"|введение|предыстория)\W*$",
    re.I,
)


@functools.cache
def of_title(title: str) -> int:
    """The part of the text under a title or behind a label: `Actions`, `Beschluss:`."""
    lower = title.lower()
    return next((part for part, words in _BY_TITLE.items() if words.search(lower)), NONE)


def of_sentences(sentences: Iterable[str], around: int) -> list[tuple[int, bool]]:
    """The part of each sentence of a text that plays the part `around`, and whether it is key.

    Key are prohibitions, and the first sentence of a decision.
    """
    played = []
    for at, sentence in enumerate(sentences):
        own = _of_sentence(sentence) if sentence else NONE
        counts_for_all = around < ABOUT or (own > BARRED and around < NONE)
        part = around if counts_for_all else min(around, own)
        played.append((part, part == BARRED or (around == DECIDED and not at)))
    return played


def _of_sentence(sentence: str) -> int:
    """The part of a sentence by its own words."""
    lower = sentence.lower()
    is_question = lower.rstrip().endswith(("?", "？"))
    for part, words in _BY_WORDS.items():
        if words.search(lower) and not (is_question and part != OPEN):
            return part
    if _DAY.search(lower) and _DUE.search(lower):
        return DUE
    return NONE


def first_of_each(units: list[Unit], played: Iterable[int]) -> list[Unit]:
    """The statements; those that come first in the part that they play weigh most."""
    counts = Counter[int]()
    made = list[Unit]()
    for unit, part in zip(units, played, strict=True):
        counts[part] += 1
        is_early = part != NONE and counts[part] <= _MOST[part]
        factor = _WEIGHTS[part] if is_early else 1.0
        made.append(unit if factor == 1.0 else unit._replace(weight=unit.weight * factor))
    return made


def weighed(blocks: Iterable[tuple[tuple[str, ...], list[Unit]]]) -> list[Unit]:
    """The statements of blocks, given with their headings, weighed by the part that each plays."""
    made: list[Unit] = []
    played: list[int] = []
    for titles, units in blocks:
        around = NONE
        for title in titles[-1:]:
            around = ASIDE if _DESCRIBING.match(title) else of_title(title)
        sentences = of_sentences([unit.text for unit in units], around)
        for unit, (part, is_key) in zip(units, sentences, strict=True):
            made.append(unit._replace(key=True) if is_key and not unit.key else unit)
            played.append(part)
    return first_of_each(made, played)
