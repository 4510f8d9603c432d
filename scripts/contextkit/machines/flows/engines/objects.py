"""A remote that is a bucket: `s3://`, `gs://`, `az://`, through the package obstore.

It has the tree of `manifests`, one object per key. Credentials and region come from the variables
and files that each provider documents. Requests run concurrently, so a thousand documents cost a
few round trips.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from contextkit.base import packages
from contextkit.base.errors import ContextError
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, T
from contextkit.machines.documents import manifests
from contextkit.machines.flows import engines

_AT_ONCE = 64  # concurrent requests


class Objects:
    """The remote at this URL: a bucket and a key prefix.

    The package is loaded by the first request, since that takes as long as a bare start of Python,
    and a push of nothing makes no request.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    @functools.cached_property
    def _obstore(self) -> Any:
        return packages.optional(
            "obstore", "obstore.store", requirement="obstore>=0.12,<0.13",
            purpose="object stores need",
        )  # fmt: skip

    @functools.cached_property
    def _store(self) -> Any:
        retries = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        options: dict[str, Any] = {"retry_config": retries}
        if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
            options["client_options"] = {"allow_http": True}
        return self._try(lambda: self._obstore.store.from_url(self._url, **options))

    def heads(self) -> dict[str, bytes]:
        """Return the head of every machine, by its id."""
        listed = self._try(lambda: self._obstore.list_with_delimiter(self._store, "machines"))
        found = [str(one).rstrip("/").rpartition("/")[2] for one in listed["common_prefixes"]]
        keys = {manifests.head_key(one): one for one in found if manifests.is_id(one)}
        return {keys[key]: data for key, data in self.get("", keys)}

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (key, value) for the keys that exist, in any order."""
        wanted = list(keys)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for key, data in zip(wanted, pool.map(self._get, wanted), strict=True):
                if data is not None:
                    yield key, data

    def put(
        self, machine: str, objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes,
        keep: frozenset[str], before: str,
    ) -> int:  # fmt: skip
        """Write the objects concurrently, then the manifest that names them, then the head."""
        there = self._get(manifests.head_key(machine))
        engines.check_claim(machine, there, before, self._url)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda pair: self._put(*pair), objects.items()))
        self._put(*manifest)
        self._put(manifests.head_key(machine), head)
        return engines.size(objects, manifest, head)

    def forget(self, machine: str) -> None:
        """Remove what a machine wrote; objects stay, since other machines may name them."""
        prefix = f"machines/{machine}/"
        self._delete([manifests.head_key(machine)])
        batches = self._try(lambda: list(self._obstore.list(self._store, prefix)))
        for batch in batches:
            self._delete([one["path"] for one in batch])

    def _get(self, key: str) -> bytes | None:
        try:
            found = self._obstore.get(self._store, key)
            if found.meta["size"] > manifests.MOST_MANIFEST:
                return None
            return bytes(found.bytes())
        except FileNotFoundError:
            return None
        except ContextError:
            raise
        except Exception as error:
            raise self._failure(error) from None

    def _put(self, key: str, data: bytes) -> None:
        self._try(lambda: self._obstore.put(self._store, key, data, use_multipart=False))

    def _delete(self, keys: list[str]) -> None:
        self._try(lambda: self._obstore.delete(self._store, keys))

    def _try(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except ContextError:
            raise
        except Exception as error:  # each provider has its own exceptions
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> ContextError:
        first = next((line for line in str(error).splitlines() if line.strip()), repr(error))
        return ContextError(f"remote {self._url}: {first.strip()[:300]}")
