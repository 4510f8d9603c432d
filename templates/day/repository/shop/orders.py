"""Orders as the shop exports them."""

from __future__ import annotations


def parse(text: str) -> list[dict]:
    """Read the lines of an export; an order has an amount in cents."""
    found = []
    for line in text.split("\n")[:-1]:
        identity, customer, country, amount, kind = line.split(";")
        if not country:
            continue
        found.append(
            {
                "id": identity,
                "customer": customer,
                "country": country,
                "cents": cents(amount),
                "kind": kind,
            }
        )
    return found


def cents(amount: str) -> int:
    """An amount such as 12.50 in cents."""
    return int(float(amount.replace(",", "")) * 100)


def total(orders: list[dict]) -> int:
    """What was earned, in cents."""
    return sum(order["cents"] for order in orders)
