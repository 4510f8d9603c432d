"""How decisive parts of a text are, judging by words in the languages that reports come in.

`make bench what=receipts` measures what the weights keep.
"""

from __future__ import annotations

import functools
import re

from contextkit.base.expressions import Pattern

_KEY = tuple(
    (
        "key finding|key takeaway|main finding|bottom line|tldr|tl;dr|in short|actionable|"
        "executive|critical constraint|critical finding|key result|key insight|"
        "at a glance|must know|wichtigste|kernaussage|zentrale erkenntnis|das wesentliche|"
        "kurzfassung|ergebnis auf einen blick|hallazgo clave|hallazgos clave|"
        "hallazgo principal|hallazgos principal|principales hallazgos|puntos clave|"
        "en resumen|principais achados|principais descobertas|principais conclus|"
        "achado chave|achados chave|achado principa|achados principa|pontos-chave|"
        "pontos chave|em resumo|point clé|point clés|points clé|points clés|"
        "point essentiel|point essentiels|points essentiel|points essentiels|"
        "principaux résultats|principaux constats|constat clé|constat clés|constats clé|"
        "constats clés|constat principa|constats principa|l'essentiel|risultati chiave|"
        "risultati principali|punti chiave|in sintesi|belangrijkste bevinding|"
        "belangrijkste conclusie|viktigaste|najważniejsze|kluczowe|ключев|главн|"
        "основные вывод|коротко|要点|关键发现|主要发现|核心发现|結論|结论|重要な発見|主な発見|"
        "要約|핵심|주요 발견|주요 결과|요약|أهم النتائج|النتائج الرئيسية|الخلاصة|"
        "मुख्य निष्कर्ष|मुख्य बिंदु|temel bulgu|önemli bulgu"
    ).split("|")
)
_RECOMMENDING = tuple(
    (
        "recommend|next step|action|priorit|proposal|decision|empfehl|nächste schritt|"
        "maßnahm|entscheid|recomenda|próximo pas|próximos pas|decisi|decis|recommand|"
        "prochaine|décision|raccomanda|prossim|aanbevel|volgende stap|beslui|rekommend|"
        "beslut|zaleceni|decyzj|рекоменд|решени|следующ|建议|推荐|下一步|决定|推奨|決定|次のステップ|권장|"
        "결정|다음 단계|توصي|قرار|सिफ़ारिश|सिफारिश|निर्णय|öneri|karar|agreed|decid|beschl|vereinbar|"
        "acuerd|acord|convenu|afgesprok"
    ).split("|")
)
_DECIDING = (
    *_RECOMMENDING,
    *(
        "conclusion|verdict|result|answer|risk|outcome|root cause|fix|must|blocker|"
        "limitation|constraint|summary|gap|todo|warning|ergebnis|risik|fazit|zusammenfassung|"
        "ursache|riesgo|resultado|conclusi|resumen|resumo|risco|risque|résultat|résumé|"
        "rischi|risultat|risico|samenvatting|sammanfattning|ryzyk|wnios|podsumowanie|риск|"
        "вывод|итог|决策|风险|结果|摘要|总结|リスク|結果|まとめ|概要|위험|결과|خطر|نتائج|ملخص|जोखिम|सारांश|sonuç|"
        "özet"
    ).split("|"),
)
_SKIPPED = frozenset(
    (
        "source|sources|see also|reference|references|table of contents|contents|appendix|"
        "bibliography|further reading|links|metadata|changelog|quellen|literatur|inhalt|"
        "fuentes|referencias|referências|fontes|índice|sommaire|fonti|bronnen|källor|"
        "źródła|источники|оглавление|参考|来源|目录|出典|参考文献|目次|참고|출처|목차|المصادر|"
        "स्रोत|kaynaklar"
    ).split("|")
)
_LABELS = frozenset(
    (
        "source|sources|date|author|authors|researcher|researchers|status|"
        "confidence level|confidence|story|wave|research block|research date|"
        "research scope|generated|reference|references|tokens|agent|agents|model|models|"
        "severity|priority|category|type|impact|effort|version|reviewer|reviewed|scope|"
        "target|data|autor|autora|autores|fecha|estado|gravidade|prioridade|severidade|"
        "severidad|datum|schweregrad|priorität|kategorie|gravité|priorité|catégorie|"
        "auteur|statut|gravedad|prioridad|versão|versión|дата|автор|статус|приоритет|日付|"
        "作者|状態|優先度|日期|状态|优先级|严重性|날짜|작성자|상태|우선순위|االحالة|दिनांक|"
        "स्थिति|tarih|durum|owner|id|tag|tags|session|run|duration|time"
    ).split("|")
)
_STATED = frozenset(
    (
        "must never don't should shouldn't cannot can't fail fails failed failure failures block "
        "blocker blockers blocks blocked broken bug critical break breaks missing require requires "
        "because instead only risk decided chosen rejected use avoid fix add remove replace reuse "
        "not recommend recommends recommended recommending recommendation recommendations "
        "muss nicht nie empfohlen sollte fehlt "
        "debe nunca recomienda deve não recomenda-se doit jamais"
    ).split()
)
_STATED_PHRASES = (
    "root cause", "ne pas", "il faut", "должн", "нельзя", "нужно", "никогда", "必须", "不得",
    "不要", "应该", "禁止", "必要", "べき", "してはならない", "해야", "금지", "يجب", "لا يجوز",
)  # fmt: skip
_MARKS = str.maketrans(dict.fromkeys('.,;:!?()[]{}<>"*_/|=—–', " ") | {"’": "'"})
NEGATING = Pattern(
    r"\b(?:not?|never|avoid|reject(?:ed|ions?)?|don'?ts?|anti-?patterns?|out of scope|deprecated"
    r"|myths?"
    r"|false positives?|hypothe\w+|examples?|if|unless|when|alternatives?|wrong|bad|old|before"
    r"|dismissed"
    r"|nicht|kein\w*|verworfen|abgelehnt|wenn|falls|beispiele?|ne pas|rejetée?s?|si|exemples?"
    r"|no hacer"
    r"|rechazad\w+|ejemplos?|não|rejeitad\w+|se|exemplos?|evitar)\b|不|禁|被拒|例|않|如果",
    re.I,
)
_AROUND = " \t*_`#-–—:.)(0123456789>•[]"
SERIOUS = Pattern(r"\b(?:P0|P1|BLOCKER|CRITICAL|URGENT|HIGH)\b")
LEANING = Pattern(  # only meaningful together with the text before it
    r"(?:this|that|these|those|it|they|he|she|but|however|otherwise|also|then|so|thus|hence|else"
    r"|and|or|the (?:former|latter|same|above|following)"
    r"|dies\w*|das(?= (?-i:[a-zäöü]))|aber|jedoch|sonst|esto|eso|pero|isso|mas"
    r"|cela|ceci|mais)\b[ ,]",
    re.I,
)


def is_label(text: str) -> bool:
    """Whether a line only states a property: `Severity: P1`, `Date: 2026-01-02`."""
    name, colon, value = text.replace("：", ":", 1).partition(":")
    return bool(colon) and value.count(" ") < 7 and name.strip(_AROUND).lower() in _LABELS


@functools.cache
def is_key(text: str) -> bool:
    """Whether a text calls something key: its findings, its summary, its constraint."""
    lower = text.lower()
    return any(word in lower for word in _KEY)


@functools.cache
def only_refers(title: str) -> bool:
    """Whether a heading or lead-in announces mere references: `Sources`, `See also (web):`."""
    return title.partition(" (")[0].lower().strip(_AROUND) in _SKIPPED


@functools.cache
def of_titles(titles: tuple[str, ...]) -> tuple[float, bool]:
    """How decisive text under these headings is, and whether the headings call it key."""
    own = titles[1:] if len(titles) > 1 else titles  # the first is the title of the text itself
    if any(map(only_refers, own)):
        return 0.0, False
    key = any(map(is_key, own))
    return (2.0 if key else 1.5 if any(map(_decides, own)) else 1.0), key


@functools.cache
def _decides(title: str) -> bool:
    lower = title.lower()
    return any(word in lower for word in _DECIDING)


@functools.cache
def recommends(title: str) -> bool:
    """Whether a section of this heading says what to do or what was decided."""
    lower = title.lower()
    return any(word in lower for word in _RECOMMENDING)


def _states(lower: str) -> bool:
    """Whether a word or phrase of a lower-case sentence says what to do or what fails."""
    if not _STATED.isdisjoint(lower.translate(_MARKS).split()):
        return True
    return any(phrase in lower for phrase in _STATED_PHRASES)


@functools.cache
def of_sentence(sentence: str) -> float:
    """How decisive a sentence is by its own words."""
    weight = 1.35 if _states(sentence.lower()) else 1.0
    if SERIOUS.search(sentence):
        weight *= 1.2
    if LEANING.match(sentence):
        weight *= 0.5
    return weight


@functools.cache
def of_statement(text: str) -> float:
    """How decisive a statement of a report is; 0 for a label, a lead-in, or hardly a word."""
    is_lead_in = text.endswith((":", "：")) or len(text.encode()) < 12
    return 0.0 if is_lead_in or is_label(text) else of_sentence(text)
