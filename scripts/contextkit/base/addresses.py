"""Addresses: `kind:name`, which identifies a document so that it can be opened again.

    payload:s-42/20261122-043007-auth-flow      capsule:feature/demo/20261122T043007Z

An address is derived from the path inside the store, without the suffix, and does not change when
the document is archived. In a store that is a single file, the name is the id of the entry.
`session:…` and `review:run/agent/id` do not name files.
"""

from __future__ import annotations

import os

from contextkit.base import files, names, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Declaration
from contextkit.base.type_names import Any, Iterable, Iterator

LATEST = "latest"
_AROUND = "`'\"()[]{}<>*,;!?"  # punctuation that may surround an address in prose
_SUFFIXES = tuple({store.suffix for store in stores.STORES if store.suffix})
_MOST_NAMED = 5  # candidates that a message names
_MOST_IN_TEXT = 40  # documents that a text names


class Address(Declaration):
    """A document that was found: its address, its kind, and the absolute path of its file."""

    ref: str
    kind: str
    path: str
    fields: dict[str, Any] | None = None  # of an entry, if the file holds several documents


def kinds() -> tuple[str, ...]:
    """The kinds of document, in the order of the stores."""
    return tuple(store.kind for store in stores.STORES if store.module)


def parts(ref: str) -> tuple[str, str]:
    """Split an address into kind and name; the kind is '' unless it is one of ours."""
    kind, colon, name = ref.partition(":")
    is_ours = colon and (kind in kinds() or kind in ("session", "review"))
    return (kind, name) if is_ours else ("", ref)


def bare(ref: str, kind: str) -> str:
    """The name in an address; other text as it is. Raises ContextError for one of another kind."""
    named, name = parts(ref)
    if named not in ("", kind):
        raise bad_input(
            f"{names.brief(ref)}: is a {named}, not a {kind}: make context_show opens it"
        )
    return name


def of(layout: Layout, path: str, kind: str = "") -> str:
    """The address of the document in a file, or '' if it is in no store, or not of a `kind`."""
    best = ""
    for store in stores.STORES:
        if kind not in ("", store.kind) or not _fits(store, os.path.basename(path)):
            continue
        name = _name(layout, store, path)
        if name and (store.form or not best):  # a store that declares a file name pattern wins
            best = f"{store.kind}:{name}"
    return best


def _fits(store: stores.Store, name: str) -> bool:
    """Whether a file with this name can be a document of the store."""
    ours = store.suffix and name.endswith(store.suffix) and name[0] != "."
    return bool(ours and (not store.form or names.shape(name).startswith(store.form)))


def _name(layout: Layout, store: stores.Store, path: str) -> str:
    """The name of a path in a store, even after its document was archived; '' if it has none."""
    place = layout.place(store.kind) + "/"
    if path.startswith(place):
        name = path[len(place) : -len(store.suffix)]
        return "" if store.kind == "payload" and "/" not in name else name
    for folder in away(layout, store):
        if path.startswith(folder + "/"):
            first, _, rest = path[len(folder) + 1 : -len(store.suffix)].partition("/")
            if store.kind == "payload":
                return f"{first.partition('@')[0]}/{rest}"
            if rest.startswith(store.place + "/"):
                return rest[len(store.place) + 1 :]
    return ""


def away(layout: Layout, store: stores.Store) -> tuple[str, ...]:
    """The folders that finished documents move to, with one subfolder per session or task."""
    if store.kind == "payload":
        return (layout.ended,)
    if store.within == "memory":
        return (layout.place("archived"),)
    return ()


def listed(layout: Layout, kind: str = "") -> Iterator[Address]:
    """List every document of a kind (default: all) by file name; only single files are read."""
    for store in stores.STORES:
        if not store.module or kind not in ("", store.kind):
            continue
        if store.is_file:
            for ref, path, fields in entries(layout, store):
                yield Address(ref=ref, kind=store.kind, path=path, fields=fields)
        elif store.suffix:
            yield from _files(layout, store)


def entries(layout: Layout, store: stores.Store) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Address, path and fields of each entry of a single-file store."""
    for path, entry in stores.module(store).load_all(layout):
        fields = entry if isinstance(entry, dict) else vars(entry)
        yield f"{store.kind}:{fields.get('id')}", path, fields


def _files(layout: Layout, store: stores.Store) -> Iterator[Address]:
    others = [s for s in stores.STORES if s.form and s.place == store.place and s is not store]
    for folder, before in _folders(layout, store):
        for entry in walked(folder, store.suffix):
            path = entry.path
            if not _fits(store, entry.name) or any(_fits(other, entry.name) for other in others):
                continue
            name = before + path[len(folder) + 1 : -len(store.suffix)]
            if store.kind != "payload" or "/" in name:
                yield Address(ref=f"{store.kind}:{name}", kind=store.kind, path=path)


def _folders(layout: Layout, store: stores.Store) -> list[tuple[str, str]]:
    """The folders of a store, each with what comes before the names of the files in it."""
    folders = [(layout.store(store.kind), "")]
    if store.within == "memory":
        layout.store("archived")
    for outer in away(layout, store):
        for name in stores.names_in(outer):
            inner = os.path.join(outer, name, store.place) if store.within else ""
            folders.append(
                (inner, "") if inner else (f"{outer}/{name}", name.partition("@")[0] + "/")
            )
    return folders


def every_file(layout: Layout) -> Iterator[str]:
    """The path of each file in the stores of one document a file; some may be no documents."""
    kept = [store for store in stores.with_documents() if store.suffix]
    places = {(folder, s.suffix): None for s in kept for folder, _ in _folders(layout, s)}
    for folder, suffix in places:
        for entry in walked(folder, suffix):
            yield entry.path


def walked(folder: str, suffix: str | tuple[str, ...]) -> Iterator[os.DirEntry[str]]:
    """The files below `folder` that end in `suffix`, by name; links and drafts are skipped."""
    try:
        with os.scandir(folder) as inside:
            entries = sorted(inside, key=os.fspath)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
            yield entry
        elif entry.is_dir(follow_symlinks=False):
            yield from walked(entry.path, suffix)


def find(layout: Layout, ref: str, kind: str = "") -> Address:
    """Find the document that an address, a path, an unambiguous prefix, or `latest` refers to.

    Raises ContextError if nothing matches, or more than one document does.
    """
    text = ref.strip()
    named, name = parts(text)
    if kind:
        bare(text, kind)
    wanted = named or kind
    by_path = "" if named else _file(layout, text)
    if by_path:
        if made := of(layout, by_path, wanted):
            return Address(ref=made, kind=made.partition(":")[0], path=by_path)
        raise ContextError(f"{layout.shown(by_path)}: is not a document of any contextkit store")
    path = file_of(layout, named, name) if named and ".." not in name.split("/") else ""
    if path and os.path.isfile(path) and of(layout, path, named) == text:
        return Address(ref=text, kind=named, path=path)
    every = list(listed(layout, wanted))
    if name == LATEST:
        if every:
            return max(every, key=lambda a: (_stamp(a.ref), a.ref))
        raise ContextError(f"there is no {wanted or 'document'} here")
    exact = [a for a in every if name in _spellings(a.ref)]
    begun = exact or [a for a in every if any(s.startswith(name) for s in _spellings(a.ref))]
    if len({a.ref for a in begun}) == 1 and name:
        return begun[0]
    raise _none(text, wanted, begun, every)


def _file(layout: Layout, text: str) -> str:
    """The absolute path of a typed file, relative to the root or the current directory; or ''."""
    for base in (layout.root, layout.here):
        path = os.path.normpath(os.path.join(base, text)) if text and "\0" not in text else ""
        if path and os.path.isfile(path) and path.startswith(layout.root + "/"):
            return path
    return ""


def _spellings(ref: str) -> tuple[str, ...]:
    """What users may type for an address: the address, its name, the last part of it, decoded."""
    name = ref.partition(":")[2]
    forms = (ref, name, name.rpartition("/")[2])
    if "%" in name:
        from urllib.parse import unquote

        return (*forms, unquote(name))
    return forms


def time_of(ref: str) -> str:
    """The time in an address in ISO form, or '' if it has none."""
    digits = _stamp(ref)
    return names.iso(names.moment(digits)) if digits else ""


def _stamp(ref: str) -> str:
    """The digits of the time in an address, which sort chronologically; '' if it has none."""
    digits = ""
    for part in ref.replace("_", "/").replace(":", "/").split("/"):
        at = names.shape(part).replace("-", "T").find("00000000T000000")
        if at >= 0:
            digits = part[at : at + 8] + part[at + 9 : at + 15]
    return digits


def _none(ref: str, kind: str, begun: list[Address], available: list[Address]) -> ContextError:
    what = names.quoted(ref)
    if len(begun) > 1:
        shown = ", ".join(sorted({address.ref for address in begun})[:_MOST_NAMED])
        return ContextError(f"{what} is the start of {len(begun)} documents: {shown} …")
    near = names.nearest(ref, [address.ref for address in available[-2000:]])
    advice = near or ": find it with make context_search q=…"
    if kind and not near and 0 < len(available) <= _MOST_NAMED:
        advice = f"; available: {', '.join(a.ref.partition(':')[2] for a in available)}"
    return ContextError(f"there is no {kind or 'document'} {what}{advice}")


def named_in(layout: Layout, text: str) -> list[str]:
    """The documents that a text names by address or path, each once, at most 40 of them."""
    refs: dict[str, None] = {}
    for core in words_in(text):
        refs[_named(layout, core)] = None
        if len(refs) - ("" in refs) == _MOST_IN_TEXT:
            break
    return list(filter(None, refs))


def words_in(text: str) -> Iterator[str]:
    """The words of a text that may be addresses or paths, without what surrounds them in prose."""
    for word in text.split():
        if len(word) > 5 and ("/" in word or ":" in word):
            yield word.strip(_AROUND).rstrip(_AROUND + ".:").removeprefix("@stored:")


def _named(layout: Layout, word: str) -> str:
    """The address that a word is, or that of the document whose path it is; otherwise ''."""
    kind, name = parts(word)
    if kind:
        path = file_of(layout, kind, name)
        return word if name and (not path or os.path.isfile(path)) else ""
    if "/" not in word or not word.endswith(_SUFFIXES):
        return ""
    ref = of(layout, os.path.normpath(layout.join(word)))
    return ref if ref and os.path.isfile(layout.join(word)) else ""


def file_of(layout: Layout, kind: str, name: str) -> str:
    """The path that a document has in its store, there or not; '' if it is no file of its own."""
    store = stores.BY_KIND.get(kind)
    if store is None or not store.suffix:
        return ""
    return os.path.join(layout.store(kind), name + store.suffix)


# The documents here that another machine wrote, as noted by a pull in `.contextkit/sync/from`. A
# line has the machine's name, the digest of the text, its path, and its address, between tabs. Once
# its text has changed, a document is no longer the other machine's. Each pull rewrites the file.


def save_origins(layout: Layout, rows: Iterable[tuple[str, str, str, str]]) -> None:
    """Replace the list: (machine's name, digest, path relative to the root, address) each."""
    text = "".join("\t".join(map(names.one_line, row)) + "\n" for row in rows)
    if text != files.text_of(layout.origins):
        files.write(layout.origins, text, derived=True)


def elsewhere(layout: Layout) -> dict[str, str]:
    """The machine of each document here that another machine wrote, by address."""
    return {ref: machine for _, ref, machine in _origins(layout) if ref}


def files_elsewhere(layout: Layout) -> dict[str, str]:
    """The machine of each document here that another machine wrote, by absolute path."""
    return {path: machine for path, _, machine in _origins(layout)}


def _origins(layout: Layout) -> Iterator[tuple[str, str, str]]:
    for line in files.text_of(layout.origins).splitlines():
        machine, digest, shown, ref = (*line.split("\t"), "", "", "", "")[:4]
        path = layout.join(shown)
        try:
            is_still_theirs = names.sha256(files.read_bytes(path)) == digest
        except (ContextError, OSError):
            continue
        if is_still_theirs:
            yield path, ref, machine
