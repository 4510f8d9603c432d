"""The picture of the systems, drawn from the lines of manuals/systems.txt as SVG."""

from __future__ import annotations

from html import escape

WIDTH, ROW, TOP = 860, 74, 16
BOX, HEIGHT = 150, 40
LEFT, MIDDLE, RIGHT = 10, 355, 700  # where the boxes of a row begin
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .note { font-size: 12px; fill: #59636e; }
  .system { font-weight: 600; }
  rect { fill: #f6f8fa; stroke: #59636e; }
  rect.system { fill: #ddf4ff; stroke: #0969da; }
  path { fill: none; stroke: #59636e; }
  marker path { fill: #59636e; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .note { fill: #9198a1; }
    rect { fill: #151b23; stroke: #9198a1; } rect.system { fill: #0c2d6b; stroke: #58a6ff; }
    path { stroke: #9198a1; } marker path { fill: #9198a1; stroke: none; }
  }
"""


def draw(source: str) -> str:
    """The SVG for the lines of `source`; its first `#` line is the title."""
    lines = [line for line in source.splitlines() if line.strip() and line[0] != "#"]
    rows = [[p.strip() for p in line.split(" > ")] for line in lines if " -> " not in line]
    between = [line for line in lines if " -> " in line]
    height = TOP + ROW * len(rows)
    title = "; ".join(f"{row[0]}: {row[1]}, {row[2]}, {row[3]} for the {row[4]}" for row in rows)
    body = [f"<title>What goes in, what comes out</title><desc>{escape(title)}</desc>"]
    for number, (giver, given, system, got, taker) in enumerate(rows):
        top = TOP + ROW * number
        body += box(LEFT, top, giver) + box(MIDDLE, top, system, "system") + box(RIGHT, top, taker)
        body += arrow(LEFT + BOX, MIDDLE, top + HEIGHT // 2, given)
        body += arrow(MIDDLE + BOX, RIGHT, top + HEIGHT // 2, got)
    systems = [row[2] for row in rows]
    for line in between:
        ends, _, label = line.partition(" : ")
        first, last = (systems.index(end.strip()) for end in ends.split(" -> "))
        body += down(first, last, label.strip())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def box(x: int, top: int, text: str, kind: str = "") -> list[str]:
    drawn = f' class="{kind}"' if kind else ""
    return [
        f'<rect{drawn} x="{x}" y="{top}" width="{BOX}" height="{HEIGHT}" rx="6"/>',
        f'<text{drawn} x="{x + BOX // 2}" y="{top + 25}" text-anchor="middle">'
        f"{escape(text)}</text>",
    ]


def arrow(start: int, end: int, y: int, label: str) -> list[str]:
    return [
        f'<path d="M{start} {y}H{end}" marker-end="url(#end)"/>',
        f'<text class="note" x="{(start + end) // 2}" y="{y - 6}" text-anchor="middle">'
        f"{escape(label)}</text>",
    ]


def down(first: int, last: int, label: str) -> list[str]:
    """From a system to the one above or below it."""
    x = MIDDLE + 24
    upward = last < first
    start = TOP + ROW * first + (0 if upward else HEIGHT)
    end = TOP + ROW * last + (HEIGHT if upward else 0)
    return [
        f'<path d="M{x} {start}V{end}" marker-end="url(#end)"/>',
        f'<text class="note" x="{x + 8}" y="{(start + end) // 2 + 4}">{escape(label)}</text>',
    ]
