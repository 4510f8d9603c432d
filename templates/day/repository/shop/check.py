"""Compare the export of the year with the books: `python3 -m shop.check`."""

from __future__ import annotations

from shop import orders

COUNTRIES = ("AT", "BE", "CH", "DE", "FR", "IT", "NL")


def export() -> list[tuple[str, int]]:
    """Each line of the export, and the cents that the books have for it."""
    found = []
    for number in range(1, 3001):
        country = COUNTRIES[number % 7]
        whole, part = number * 37 % 400 + 3, number * 53 % 100
        amount, kind, books = f"{whole}.{part:02}", "sale", whole * 100 + part
        if number == 1111:
            amount, books = "1.234,50", 123450
        elif number == 1789:
            country = ""
        elif number == 2222:
            kind, books = "refund", -books
        elif number == 2640:
            amount, books = "10.125", 1012
        found.append((f"{number:05};customer {number % 311};{country};{amount};{kind}", books))
    return found


def main() -> int:
    wrong = 0
    for line, books in export():
        identity = line.partition(";")[0]
        try:
            read = orders.parse(line + "\n")
            ours = orders.total(read) if read else None
        except ValueError as error:
            ours = f"{type(error).__name__}: {error}"
        if ours == books:
            print(f"order {identity} read, booked in the month {int(identity) % 12 + 1}, as expected")
        else:
            wrong += 1
            print(f"order {identity} MISMATCH: books {books}, here {ours}")
    print(f"{wrong} of 3000 orders differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
