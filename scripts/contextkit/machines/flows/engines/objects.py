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
from contextkit.machines.flows.engines import Keyed

_AT_ONCE = 64  # concurrent requests


class Objects(Keyed):
    """The remote at this URL: a bucket and a key prefix.

    The package is loaded by the first request, since that takes as long as a bare start of Python,
    and a push of nothing makes no request.
    """

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
        return self._try(lambda: self._obstore.store.from_url(self._where, **options))

    def _machines(self) -> list[str]:
        listed = self._try(lambda: self._obstore.list_with_delimiter(self._store, "machines"))
        return [str(prefix).rstrip("/").rpartition("/")[2] for prefix in listed["common_prefixes"]]

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(keys)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for key, data in zip(wanted, pool.map(self._get, wanted), strict=True):
                if data is not None:
                    yield key, data

    def _put_all(self, objects: dict[str, bytes]) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda pair: self._put(*pair), objects.items()))

    def forget(self, machine: str) -> None:
        prefix = f"machines/{machine}/"
        self._delete([manifests.head_key(machine)])
        batches = self._try(lambda: list(self._obstore.list(self._store, prefix)))
        for batch in batches:
            self._delete([entry["path"] for entry in batch])

    def _get(self, key: str) -> bytes | None:
        def ask() -> bytes | None:
            try:
                result = self._obstore.get(self._store, key)
            except FileNotFoundError:
                return None
            return bytes(result.bytes()) if result.meta["size"] <= manifests.MOST_MANIFEST else None

        return self._try(ask)

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
            first = next((line for line in str(error).splitlines() if line.strip()), repr(error))
            raise ContextError(f"remote {self._where}: {first.strip()[:300]}") from None
