"""All systems at once: what is stored, and from the ledger, what became of it and why.

flows/overview            the settings in force, the documented files, a status line per system
flows/delivery            what became of each document and session: handed over, opened, consumed
flows/show                open any document by its address
flows/search              find documents by their words
flows/why                 what a document was made from, who got it, and what they made of it
flows/report              all of this as one page
"""
